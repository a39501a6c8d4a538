// The firmware of `firmware/button_box` as one object, its board's clock, pads and line in plain memory.
#pragma once
#undef LINE_MAX  // Python.h has brought in that of limits.h
#include "box.h"

struct Board {
  struct Guard { ~Guard() {} };
  uint64_t now_us = 0;
  char said[8 * LONGEST];  // since it was last read
  unsigned length = 0, hz = 0;
  bool lamps[LAMPS] = {}, pads[PADS] = {};
  char name[WORD_MAX + 1] = {};
  uint32_t micros() { return uint32_t(now_us); }
  void lamp(uint8_t i, bool on) { lamps[i] = on; }
  void tone(uint16_t now_hz) { hz = now_hz; }
  bool pad(uint8_t i) { return pads[i]; }
  bool room() { return length < sizeof said; }
  void write(char c) { said[length++] = c; }
  void keep_name(const char* kept) { strncpy(name, kept, WORD_MAX); }
};

struct ButtonBox : Board, Box<Board> {
  ButtonBox() : Box<Board>(static_cast<Board&>(*this)) {}
};
