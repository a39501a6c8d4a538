// What happened, kept until the host says that it has it. Numbered from 1 at every start of the box.
#pragma once
#include <stdint.h>

const uint8_t KEPT = 20;
const uint8_t KEPT_MINOR = 10;  // what is no part of a duel stops here: it must not push out a duel's events

struct Event {
  const char* kind;
  uint64_t at_us;
  uint8_t fields;   // how many of the values below belong to it
  uint16_t value;   // button, or the number of the start
  uint8_t rank;     // of a press; why the box started
  uint16_t run;     // the duel of a go or a press
};

class Events {
 public:
  uint32_t first() const { return last_ - count_ + 1; }
  uint32_t last() const { return last_; }
  uint32_t overwritten() const { return overwritten_; }

  void add(const Event& event) {
    last_++;
    if (count_ == KEPT) {
      overwritten_++;
    } else {
      count_++;
    }
    ring_[last_ % KEPT] = event;
    if (cursor_ < first()) cursor_ = first();
  }

  // The same for an event that no duel depends on.
  void add_minor(const Event& event) {
    if (count_ < KEPT_MINOR) add(event);
  }

  // The host has all events up to this one.
  void acknowledge(uint32_t number) {
    while (count_ > 0 && first() <= number) count_--;
    if (cursor_ < first()) cursor_ = first();
  }

  // Say everything again from this one on.
  void rewind(uint32_t number) {
    cursor_ = number < first() ? first() : number > last_ ? last_ + 1 : number;
  }

  // The next event to say and its number; null when everything has been said.
  const Event* next(uint32_t& number) {
    if (cursor_ > last_) return nullptr;
    number = cursor_++;
    return &ring_[number % KEPT];
  }

 private:
  Event ring_[KEPT];
  uint8_t count_ = 0;
  uint32_t last_ = 0;
  uint32_t cursor_ = 1;
  uint32_t overwritten_ = 0;
};
