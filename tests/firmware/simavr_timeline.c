/* Runs the compiled firmware through a timeline at exact cycles, without a terminal and without a clock on the wall.
 *
 *   simavr_timeline BOARD FIRMWARE.elf EEPROM < timeline      EEPROM in hexadecimal, "-" for a fresh one
 *
 * The timeline, in the order of its times, microseconds with a fraction:
 *   US pin I CLOSED      a contact changes: buttons 0 to 4, pads 5 and 6
 *   US byte HEX          one from the host
 *   US reset             the reset button
 *   US hang              the program runs in circles, with interrupts on
 *   US ram ADDRESS VALUE four bytes of the memory are set, the lowest first
 *   US end
 * Standard output: "line US_BEGUN US_ENDED TEXT", "lamp N ON US", "tone HERTZ US" (0 when it ends), "stack ADDRESS"
 * (the lowest that the stack pointer was at). */
#include "simavr_board.h"

enum { SILENT_US = 20000 };

static char text[512];
static int length;
static uint64_t begun;
static double tone_us, tone_hz;

static double now_us(void) { return (double)avr->cycle / MHZ; }

static void byte_out(avr_irq_t* irq, uint32_t value, void* param) {
  (void)irq, (void)param;
  if (length == 0) begun = avr->cycle;
  if (value == '\n') {
    printf("line %.2f %.2f %.*s\n", (double)begun / MHZ, now_us(), length, text);
    length = 0;
  } else if (value != '\r' && length < (int)sizeof text) {
    text[length++] = (char)value;
  }
}

static void lamp_changed(avr_irq_t* irq, uint32_t value, void* param) {
  (void)irq;
  printf("lamp %d %d %.2f\n", (int)(intptr_t)param, (int)value, now_us());
}

/* The buzzer's pin toggles: a tone is told by its first two rising edges, its end by silence. */
static void tone_ends(void) {
  if (tone_hz > 0 && now_us() - tone_us > SILENT_US) {
    printf("tone 0 %.0f\n", tone_us);
    tone_hz = 0;
  }
}

static void buzzer_changed(avr_irq_t* irq, uint32_t value, void* param) {
  (void)irq, (void)param;
  if (!value) return;
  tone_ends();
  const double hz = 1e6 / (now_us() - tone_us);
  if (now_us() - tone_us < SILENT_US && (hz < tone_hz * 0.9 || hz > tone_hz * 1.1)) {
    tone_hz = hz;
    printf("tone %.0f %.2f\n", hz, tone_us);
  }
  tone_us = now_us();
}

static uint16_t lowest = 0xFFFF;

static int run_until(uint64_t cycle) {
  while (avr->cycle < cycle) {
    const int state = avr_run(avr);
    if (state == cpu_Done || state == cpu_Crashed) return 0;
    if (avr->pc == 0) hold_contacts(); /* the watchdog has reset it */
    const uint16_t stack = (uint16_t)(avr->data[R_SPL] | avr->data[R_SPH] << 8);
    if (stack > 0x300 && stack < lowest) lowest = stack;
  }
  return 1;
}

/* Continues at an instruction that jumps to itself; the C library ends in one. */
static void hang(void) {
  for (uint32_t at = 0; at + 1 < avr->flashend; at += 2) {
    if (avr->flash[at] != 0xFF || avr->flash[at + 1] != 0xCF) continue;
    avr->pc = at;
    return;
  }
  exit(5);
}

int main(int argc, char** argv) {
  static char line[8192];
  char what[16];
  double at_us;
  int offset, contact, closed;
  unsigned byte, address, value;
  if (argc != 4) return 2;
  avr_irq_t* in = make_board(argv[1], argv[2], byte_out, lamp_changed, buzzer_changed);
  if (strcmp(argv[3], "-") != 0) set_eeprom(argv[3]);
  while (fgets(line, sizeof line, stdin) && sscanf(line, "%lf %15s %n", &at_us, what, &offset) == 2) {
    const uint64_t cycle = (uint64_t)(at_us * MHZ + 0.5);
    if (!run_until(cycle)) return 4;
    tone_ends();
    if (strcmp(what, "pin") == 0 && sscanf(line + offset, "%d %d", &contact, &closed) == 2) set_contact(contact, closed);
    if (strcmp(what, "reset") == 0) reset_board();
    if (strcmp(what, "hang") == 0) hang();
    if (strcmp(what, "ram") == 0 && sscanf(line + offset, "%u %u", &address, &value) == 2)
      for (int i = 0; i < 4; i++) avr->data[address + i] = (uint8_t)(value >> 8 * i);
    if (strcmp(what, "byte") == 0 && sscanf(line + offset, "%x", &byte) == 1) avr_raise_irq(in, byte);
    if (strcmp(what, "end") == 0) break;
  }
  printf("stack %u\n", lowest);
  return 0;
}
