// One button: the first edge is the time of the press; everything after it is bounce until the contact has rested.
// No Arduino here: the pin and the clock come in from outside, so this also compiles and is tested on a PC.
#pragma once
#include <stdint.h>

// From recordings of a real button (tests/firmware/bounce_shapes.txt): its first milliseconds may be mostly open, and a
// finger that hits hard lifts off again for up to 87 ms.
const uint32_t CONFIRM_US = 1000;    // closed this long without a break: a press
const uint32_t GLITCH_US = 10000;    // open again this long before that: a spike on the wire, no press
const uint32_t RELEASE_US = 120000;  // open this long: released; until then everything is bounce

class Contact {
 public:
  enum State : uint8_t { OPEN, TRYING, DOWN };

  State state = OPEN;
  bool closed = false;
  bool fresh = false;      // confirmed and not yet told
  bool held = false;       // was down at the go: does not count
  bool stuck = false;      // has been reported as stuck
  uint32_t first_us = 0;   // the first edge of the latest press
  uint32_t changed_us = 0;

  // The pin changed and is now closed or not. Called from the interrupt; takes a few microseconds. A pulse that is over
  // before the interrupt can look has left only the interrupt itself: it begins a press all the same.
  void edge(bool is_closed, uint32_t now_us) {
    closed = is_closed;
    changed_us = now_us;
    if (state == OPEN) {
      state = TRYING;
      first_us = now_us;
    }
  }

  // Whether a press that began before now is still going on: at the go, such a button is held.
  bool engaged() const { return closed || state == TRYING || fresh; }

  // Let time pass. True when a button that had been reported as held or stuck is up again.
  bool poll(uint32_t now_us) {
    const uint32_t steady_us = now_us - changed_us;  // right across the wrap of micros()
    if (state == TRYING && closed && steady_us >= CONFIRM_US) {
      state = DOWN;
      fresh = true;
    } else if (state != OPEN && !closed && !fresh && steady_us >= rest_us()) {
      return open();
    }
    return false;
  }

 private:
  uint32_t rest_us() const { return state == TRYING ? GLITCH_US : RELEASE_US; }

  bool open() {
    const bool reported = held || stuck;
    state = OPEN;
    held = stuck = false;
    return reported;
  }
};
