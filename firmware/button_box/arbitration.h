// Who was first: presses in the order of their first edges, and what each of them is worth in the present phase.
//
// The law of order. A press is told when its contact has been closed for 1 ms and no other player's contact with an
// earlier first edge is still in doubt. Nobody is in doubt for longer than 20 ms (debounce.h), and all doubts run at
// the same time, so:
//   - presses are told in the order of their first edges, however long a quicker player's contact bounces;
//   - a press is told at most 21 ms and one turn of the loop after its first edge, whatever the other lines do;
//   - a contact that rests is never overtaken by a later one. What induced spikes can steal is 2 ms, by a spike that
//     comes less than 2 ms before the noisy player's own press: less than the referee's tie window of 5 ms. What noise
//     with real touches can steal is the 20 ms before its line is known to be noisy, once; after that nothing, and the
//     noisy line's own presses are then stamped late by their bounce, never early.
// Start/Next and the pads hold nobody back.
#pragma once
#include "debounce.h"

const uint8_t PLAYERS = 4;
const uint8_t NEXT = PLAYERS;             // the Start/Next button comes after the players'
const uint8_t CONTACTS = PLAYERS + 1;
const uint8_t NONE = 255;

inline bool earlier(uint32_t a_us, uint32_t b_us) { return int32_t(a_us - b_us) < 0; }

// The confirmed press of a player to tell next, or NONE.
inline uint8_t settled(const Contact* contacts) {
  uint8_t first = NONE;
  for (uint8_t i = 0; i < PLAYERS; i++)
    if (contacts[i].fresh && (first == NONE || earlier(contacts[i].first_us, contacts[first].first_us))) first = i;
  for (uint8_t i = 0; first != NONE && i < PLAYERS; i++)
    if (contacts[i].state == Contact::TRYING && earlier(contacts[i].first_us, contacts[first].first_us)) return NONE;
  return first;
}

enum class Phase : uint8_t { IDLE, ARMED, COUNTING, RUNNING, STOPPED };

//            arm      count     go        false start   run       first press   disarm
// IDLE       ARMED    refused   refused   -             RUNNING   (tried)       IDLE
// ARMED      ARMED    COUNTING  RUNNING   -             RUNNING   (tried)       IDLE
// COUNTING   ARMED    refused   RUNNING   ARMED         RUNNING   (tried)       IDLE
// RUNNING    ARMED    refused   refused   -             -         STOPPED       IDLE
// STOPPED    ARMED    refused   refused   -             -         (ranked)      IDLE
class Arbiter {
 public:
  Phase phase = Phase::IDLE;
  uint16_t run = 0;     // number of the duel since the box's start, from 1

  void arm() {
    phase = Phase::ARMED;
    ranked_ = count_ = 0;
  }

  bool count() {
    if (phase != Phase::ARMED) return false;
    phase = Phase::COUNTING;
    return true;
  }

  bool go() {
    if (phase != Phase::ARMED && phase != Phase::COUNTING) return false;
    phase = Phase::RUNNING;
    run++;
    return true;
  }

  bool waiting() const { return phase != Phase::RUNNING && phase != Phase::STOPPED; }

  void disarm() { phase = Phase::IDLE; }

  // 0 outside a duel, 1 for the Stop that ends it, 2 and up for those after; NONE for a player who has pressed before.
  uint8_t rank(uint8_t button) {
    if (waiting()) return 0;
    if (ranked_ >> button & 1) return NONE;
    ranked_ = uint8_t(ranked_ | 1 << button);
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
    case Phase::COUNTING: return "counting";
    case Phase::RUNNING: return "running";
    default: return "stopped";
  }
}
