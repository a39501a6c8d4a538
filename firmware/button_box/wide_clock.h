// micros() wraps every 71.6 minutes; a box that is left on must not. Ask it at least once an hour.
#pragma once
#include <stdint.h>

class WideClock {
 public:
  // The present time, given the present reading of the 32-bit clock.
  uint64_t advance(uint32_t now_us) {
    now_us_ += uint32_t(now_us - uint32_t(now_us_));
    return now_us_;
  }

  uint64_t now() const { return now_us_; }

  // The wide time of a reading taken before the present one and less than 71 minutes ago.
  uint64_t past(uint32_t us) const { return now_us_ - uint32_t(uint32_t(now_us_) - us); }

 private:
  uint64_t now_us_ = 0;
};
