// A pad behind a player's mark, on which the tongs rest until the go: any closed contact. Optional: a pad that has
// never been closed is none. Looked at once a turn, so its times are good to half a millisecond.
#pragma once
#include <stdint.h>

const uint8_t PADS = 2;             // players 1 and 2
const uint32_t LEFT_US = 5000;      // open this long: left
const uint32_t RESTING_US = 50000;  // closed this long: at rest

class Pad {
 public:
  bool wired = false;       // has been at rest since power-on
  bool resting = false;
  uint32_t changed_us = 0;  // of a pad that was left: when

  // Let time pass. True when the tongs have left.
  bool poll(bool is_closed, uint32_t now_us) {
    if (is_closed != closed_) {
      closed_ = is_closed;
      changed_us = now_us;
    }
    if (closed_ == resting || now_us - changed_us < (closed_ ? RESTING_US : LEFT_US)) return false;
    resting = closed_;
    wired = wired || resting;
    return !resting;
  }

  bool missing() const { return wired && !resting; }

 private:
  bool closed_ = false;
};
