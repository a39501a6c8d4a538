// One button: the first edge is the time of the press; everything after it is bounce until the contact has rested.
// No Arduino here: the pin and the clock come in from outside, so this also compiles and is tested on a PC.
//
// What can be told from what, and after how long:
//   a press      closed for 15 ms in sum, an open microsecond undoing four closed ones, at most 25 ms after its first edge
//   a spike      never closed for as long as 16 us: forgotten 2 ms after its first edge
//   a glitch     open again for 10 ms without having been a press: forgotten
//   noise        in doubt for 25 ms, or 8 spikes and glitches without a second of quiet between them, or a glitch less than
//                a second of quiet before a press, or a press that opens and closes again 8 times, each 5 to 25 ms after the
//                time before: the line is *noisy*
// A mains hum closes a line once in every period. Because of the weight of four its sum grows only where the line is closed
// more than 80 % of the time, so hum is a press only if it closes the line for 15 ms on end: three quarters of a period of
// 50 Hz, nine tenths of one of 60 Hz. Such a line is as good as shorted: hum from before the go makes it noisy and *held*,
// so that its player is known not to have a button; hum that begins in a duel is a press, and told as noisy after it.
// A finger's contact short-circuits the hum, and 10 ms of bounce leave it the 15 ms.
// A line whose noise has real touches in it is read *strictly* until it has been quiet for a second: its bounce is no
// longer forgiven, so every closing edge begins anew and no doubt lasts longer than 15 ms.
#pragma once
#include <stdint.h>

// From recordings of a real button (tests/firmware/bounce_shapes.txt): its first milliseconds may be mostly open, the
// longest of them with touches of 122 and 270 us before 6.1 ms of nothing; it rests after 9.2 ms; and a finger that hits
// hard lifts off again for up to 87 ms.
const uint16_t CONFIRM_US = 15000;   // closed this long in sum: a press; recorded contacts rest this long or longer
const uint8_t OPEN_WEIGHT = 4;       // closed microseconds that an open one undoes
const uint32_t TOUCH_US = 16;        // closed this long: metal has met metal; shorter is what a neighbour's cable induces
const uint32_t SPIKE_US = 2000;      // without a touch for this long since the first edge: a spike, no press
const uint32_t GLITCH_US = 10000;    // open again this long before a press: none
const uint32_t DOUBT_US = 25000;     // the longest that a line may be in doubt
const uint32_t RELEASE_US = 120000;  // without a touch this long: released; until then everything is bounce
const uint32_t LOOSE_US = 200000;    // not closed for 15 ms in sum this long: released, whatever touches the line
const uint32_t QUIET_US = 1000000;   // without an edge this long: no longer noisy
const uint8_t SPIKES_MAX = 8;
const uint32_t SWING_US = 5000;      // from one closing to the next: longer than bounce, shorter than a mains period

class Contact {
 public:
  enum State : uint8_t { OPEN, TRYING, DOWN };
  enum News : uint8_t { NOTHING = 0, FREED = 1, NOISY = 2, QUIET = 4 };  // bits: what `poll` may report

  State state = OPEN;
  bool closed = false;
  bool fresh = false;      // confirmed and not yet told
  bool held = false;       // was down at the go or at power-on: does not count
  bool stuck = false;      // has been reported as stuck
  bool noisy = false;      // has been reported as noisy
  uint32_t first_us = 0;   // the first edge of the latest press
  uint32_t changed_us = 0;

  // For `referee box check`, since it was last asked: edges, and the worst of bounce.
  uint16_t edges = 0;
  uint32_t settle_us = 0;  // from the first edge to the last before the contact rested
  uint32_t gap_us = 0;     // longest lift-off

  // Power has come on with the contact closed or not. What is down already is held: nobody knows since when.
  void power_on(bool is_closed, uint32_t now_us) {
    closed = held = is_closed;
    first_us = changed_us = touched_us_ = solid_us_ = now_us;
    if (is_closed) state = DOWN;
  }

  // The pin changed and is now closed or not. Called from the interrupt; takes a few microseconds. A pulse that is over
  // before the interrupt can look has left only the interrupt itself: it may begin a press all the same.
  void edge(bool is_closed, uint32_t now_us) {
    const uint32_t lasted_us = now_us - changed_us;
    if (closed) {
      if (note_contact(lasted_us, now_us)) add(lasted_us);
    } else {
      if (is_closed && state != OPEN && lasted_us > gap_us) gap_us = lasted_us;
      if (is_closed && state == DOWN) swing(now_us - swung_us_, now_us);
      if (sum_us_ != 0) undo(lasted_us);
    }
    if (edges != 0xFFFF) edges++;
    closed = is_closed;
    changed_us = now_us;
    if (state == OPEN || (strict_ && state == TRYING && !firm_)) begin(is_closed, now_us);
  }

  // Whether a press that began before now is still going on: at the go, such a button is held.
  bool engaged() const { return closed || state == TRYING || fresh || swings_ == SPIKES_MAX; }

  // Let time pass. Gives News as bits.
  uint8_t poll(uint32_t now_us) {
    const uint32_t steady_us = now_us - changed_us;  // right across the wrap of micros()
    if (closed) note_contact(steady_us, now_us);
    switch (state) {
      case TRYING: return firm_ ? confirm() : tried(steady_us, now_us);
      case DOWN:
        if (!closed && !fresh && released(now_us)) return open();
        return swings_ == SPIKES_MAX ? report() : uint8_t(NOTHING);
      default: return rested(steady_us);
    }
  }

 private:
  bool touched_ = false;    // since the first edge
  bool firm_ = false;       // since the first edge closed for CONFIRM_US in sum
  bool glitched_ = false;   // has had a glitch since it was quiet
  bool strict_ = false;     // bounce is not forgiven
  uint8_t spikes_ = 0;
  uint8_t swings_ = 0;      // times that it has closed again while it was down, each SWING_US to DOUBT_US after the last
  uint32_t swung_us_ = 0;
  uint32_t touched_us_ = 0; // when it was last closed for TOUCH_US
  uint32_t solid_us_ = 0;   // when it was last closed for CONFIRM_US in sum
  uint16_t sum_us_ = 0;     // of closed time up to the last change

  // Gives whether metal has met metal.
  bool note_contact(uint32_t lasted_us, uint32_t now_us) {
    if (lasted_us < TOUCH_US) return false;
    touched_ = true;
    touched_us_ = now_us;
    if (lasted_us >= uint16_t(CONFIRM_US - sum_us_)) {
      firm_ = true;
      solid_us_ = now_us;
    }
    return true;
  }

  void add(uint32_t closed_us) {
    const uint16_t left_us = uint16_t(CONFIRM_US - sum_us_);
    sum_us_ = closed_us >= left_us ? CONFIRM_US : uint16_t(sum_us_ + uint16_t(closed_us));
  }

  void undo(uint32_t open_us) {
    const uint16_t lost_us = open_us < CONFIRM_US / OPEN_WEIGHT ? uint16_t(OPEN_WEIGHT * open_us) : CONFIRM_US;
    sum_us_ = lost_us < sum_us_ ? uint16_t(sum_us_ - lost_us) : uint16_t(0);
  }

  void swing(uint32_t since_us, uint32_t now_us) {
    if (since_us < SWING_US) return;
    swings_ = since_us > DOUBT_US ? uint8_t(0) : swings_ < SPIKES_MAX ? uint8_t(swings_ + 1) : SPIKES_MAX;
    swung_us_ = now_us;
  }

  void begin(bool is_closed, uint32_t now_us) {
    state = strict_ && !is_closed ? OPEN : TRYING;
    touched_ = firm_ = false;
    sum_us_ = 0;
    first_us = now_us;
  }

  uint8_t tried(uint32_t steady_us, uint32_t now_us) {
    if (!closed && (steady_us >= GLITCH_US || (!touched_ && now_us - first_us >= SPIKE_US))) return lapse();
    return now_us - first_us >= DOUBT_US ? distrust() : uint8_t(NOTHING);
  }

  uint8_t confirm() {
    state = DOWN;
    fresh = true;
    if (closed && changed_us - first_us > settle_us) settle_us = changed_us - first_us;
    return glitched_ ? report() : uint8_t(NOTHING);
  }

  uint8_t lapse() {
    if (spikes_ < SPIKES_MAX) spikes_++;
    if (touched_) glitched_ = true;
    if (spikes_ == SPIKES_MAX && touched_) strict_ = true;
    return uint8_t(open() | (spikes_ == SPIKES_MAX ? report() : uint8_t(NOTHING)));
  }

  // Twenty-five milliseconds of doubt are more than any button needs: from here on only what is closed now can be a press.
  uint8_t distrust() {
    strict_ = true;
    begin(closed, changed_us);
    return report();
  }

  uint8_t report() {
    const bool known = noisy;
    noisy = true;
    return known ? NOTHING : NOISY;
  }

  bool released(uint32_t now_us) const {
    return now_us - touched_us_ >= RELEASE_US || now_us - solid_us_ >= LOOSE_US;
  }

  uint8_t open() {
    const bool reported = held || stuck;
    state = OPEN;
    swings_ = 0;
    held = stuck = false;
    return reported ? FREED : NOTHING;
  }

  // An open contact: strict reading opens it in the interrupt, so what was held is freed here.
  uint8_t rested(uint32_t steady_us) {
    uint8_t news = held || stuck ? open() : uint8_t(NOTHING);
    if (closed || steady_us < QUIET_US) return news;
    spikes_ = 0;
    if (noisy) news = uint8_t(news | QUIET);
    noisy = strict_ = glitched_ = false;
    return news;
  }
};
