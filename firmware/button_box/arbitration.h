// Who was first: presses in the order of their first edges, and what each of them is worth in the present phase.
#pragma once
#include "debounce.h"

const uint8_t PLAYERS = 4;
const uint8_t NEXT = PLAYERS;             // the Start/Next button comes after the players'
const uint8_t CONTACTS = PLAYERS + 1;
const uint8_t NONE = 255;

// The confirmed press to tell next, or NONE. An earlier edge that is still in doubt holds back all later presses, so
// that a long bounce cannot cost the quicker player the first place; it is decided within a few milliseconds.
inline uint8_t settled(const Contact* contacts) {
  uint8_t first = NONE;
  for (uint8_t i = 0; i < CONTACTS; i++)
    if (contacts[i].fresh && (first == NONE || int32_t(contacts[i].first_us - contacts[first].first_us) < 0)) first = i;
  for (uint8_t i = 0; first != NONE && i < CONTACTS; i++)
    if (contacts[i].state == Contact::TRYING && int32_t(contacts[i].first_us - contacts[first].first_us) < 0) return NONE;
  return first;
}

enum class Phase : uint8_t { IDLE, ARMED, RUNNING, STOPPED };

//            arm      go        run       first press   disarm
// IDLE       ARMED    refused   RUNNING   (tried)       IDLE
// ARMED      ARMED    RUNNING   RUNNING   (tried)       IDLE
// RUNNING    ARMED    refused   -         STOPPED       IDLE
// STOPPED    ARMED    refused   -         (ranked)      IDLE
class Arbiter {
 public:
  Phase phase = Phase::IDLE;

  void arm() {
    phase = Phase::ARMED;
    ranked_ = count_ = 0;
  }

  bool go() {
    if (phase != Phase::ARMED) return false;
    phase = Phase::RUNNING;
    return true;
  }

  bool waiting() const { return phase == Phase::IDLE || phase == Phase::ARMED; }

  void disarm() { phase = Phase::IDLE; }

  // 0 outside a duel, 1 for the Stop that ends it, 2 and up for those after; NONE for a player who has pressed before.
  uint8_t rank(uint8_t button) {
    if (waiting()) return 0;
    if (ranked_ >> button & 1) return NONE;
    ranked_ |= 1 << button;
    phase = Phase::STOPPED;
    return ++count_;
  }

 private:
  uint8_t ranked_ = 0;  // bits of the players who have pressed
  uint8_t count_ = 0;
};

inline const char* phase_name(Phase phase) {
  switch (phase) {
    case Phase::IDLE: return "idle";
    case Phase::ARMED: return "armed";
    case Phase::RUNNING: return "running";
    default: return "stopped";
  }
}
