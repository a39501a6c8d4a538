// Who was first: presses in the order of their first edges, and what each of them is worth in the present phase.
//
// The law of order. A press is told when its contact has been closed for 15 ms in sum (debounce.h says what is a press and
// what is hum) and no other player's contact with an earlier first edge is still in doubt. Nobody is in doubt for longer
// than 25 ms, and all doubts run at the same time, so with two players or four:
//   - presses are told, and lamps lit, in the order of their first edges, however long a quicker player's contact bounces;
//   - a press that bounces for up to 10 ms is told at most 25 ms and one turn of the loop after its first edge, a clean one
//     after 15 ms where no earlier edge is in doubt; its stamp is the first edge, so the delay is none of the stamp;
//   - a contact on a quiet line is never overtaken by a later one. What induced spikes can steal is 2 ms, by a spike that
//     comes less than 2 ms before the noisy player's own press: less than the referee's tie window of 5 ms, in box time.
// On a line that hums no press is lost and none is forged, but a press has no first edge of its own there. Until the line is
// read strictly, its stamp is up to 10 ms early; then it is the last closing edge, which is early by as long as the hum
// had closed the line already (less than 15 ms) or late by the finger's bounce (up to 10 ms). All that is less than a mains
// period. The line is told as noisy before such a press, and the host then believes the stamp to 20 ms only and widens the
// tie window by the bounds of both presses. Only a hum whose very first touch comes within 10 ms before the press
// looks like bounce and goes unnoticed: once, and up to 10 ms early.
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
