// What the box shows and sounds: patterns of lamps, and tones that end by themselves.
#pragma once
#include <stdint.h>

enum class Lamp : uint8_t { OFF, ON, BLINK, PULSE };  // nothing; caller or winner; void; under review
const uint8_t LAMP_MODES = 4;

// Whether a lamp shines now. The powers of two near half a second and such spare the box a division.
inline bool shines(Lamp mode, uint32_t now_us) {
  switch (mode) {
    case Lamp::OFF: return false;
    case Lamp::ON: return true;
    case Lamp::BLINK: return now_us >> 18 & 1;              // 262 ms on, 262 ms off
    default: return (now_us >> 17 & 7) == 0;                // 131 ms in every 1049 ms
  }
}

inline bool flickers(uint32_t now_us) { return now_us >> 16 & 1; }  // 66 ms on and off: the line of a dark lamp is noisy

struct Tone {
  uint16_t hz;
  uint32_t for_us;
};

const Tone GO_TONE = {2300, 600000};  // where small piezo discs are loudest
const Tone COUNT_TONE = {1150, 120000};
const Tone STOP_TONE = {1750, 150000};
const Tone FALSE_START_TONE = {400, 500000};
const Tone TEST_TONE = {2300, 250000};

const uint32_t COUNT_STEP_US = 1000000;  // from one tone of the countdown to the next
const uint8_t COUNT_STEPS = 3;           // three, two, one
const uint32_t TEST_STEP_US = 250000;    // one lamp of the self-test
