// The button box: who pressed Stop first, by the box's own clock. Arduino Uno, Nano or Mega 2560, 16 MHz.
// Wiring and protocol: ../README.md. Everything that can be wrong is in the headers, which are tested on a PC;
// this file only joins them to pins, clock, serial line, EEPROM and watchdog.

#include <avr/eeprom.h>
#include <avr/wdt.h>

#include "pins.h"
#ifdef BOX_BOARD  // an unknown board gets one sentence from pins.h and no more
#include "box.h"

const long BAUD = 250000;         // 16 MHz divides into it without a remainder; into 115200 it does not (2.1 % off)
const unsigned SETTLE_MS = 20;    // until the pull-ups have charged cables and filters

// Boards with a bootloader from before Optiboot hang in it after a watchdog reset: build for them with 0.
#ifndef BOX_WATCHDOG
#define BOX_WATCHDOG 1
#endif

uint16_t EEMEM stored_boot;
char EEMEM stored_name[WORD_MAX + 1];
uint8_t optiboots_cause __attribute__((section(".noinit")));

// Optiboot clears MCUSR and hands on in r2 what it said; r2 must be read before anything else uses it.
extern "C" void save_r2() __attribute__((naked, used, section(".init3")));
void save_r2() { __asm__ __volatile__("sts %0, r2" : : "i"(&optiboots_cause)); }

struct Board {
  struct Guard {
    uint8_t sreg = SREG;
    Guard() { noInterrupts(); }
    ~Guard() { SREG = sreg; }
  };

  uint32_t micros() { return ::micros(); }
  bool room() { return Serial.availableForWrite() > 0; }
  void write(char c) { Serial.write(c); }
  bool pad(uint8_t player) { return !digitalRead(PAD_PINS[player]); }
  void keep_name(const char* name) { eeprom_update_block(name, stored_name, WORD_MAX + 1); }

  void lamp(uint8_t lamp, bool on) {
    digitalWrite(lamp < PLAYERS ? LAMP_PINS[lamp] : lamp == CONNECTED_LAMP ? CONNECTED_LAMP_PIN : ARMED_LAMP_PIN, on);
  }

  void tone(uint16_t hz) {
    if (hz > 0) {
      ::tone(BUZZER_PIN, hz);
    } else {
      noTone(BUZZER_PIN);
    }
  }
};

Board board;
Box<Board> box(board);

#if defined(__AVR_ATmega328P__)
ISR(INT0_vect) { box.edge(0, !(PIND & _BV(PD2)), micros()); }
ISR(INT1_vect) { box.edge(1, !(PIND & _BV(PD3)), micros()); }
ISR(PCINT0_vect) { box.edge(2, !(PINB & _BV(PB0)), micros()); }
ISR(PCINT1_vect) { box.edge(3, !(PINC & _BV(PC0)), micros()); }
ISR(PCINT2_vect) { box.edge(4, !(PIND & _BV(PD4)), micros()); }

static void enable_interrupts() {
  EICRA = _BV(ISC00) | _BV(ISC10);  // both edges
  PCMSK0 = _BV(PCINT0);
  PCMSK1 = _BV(PCINT8);
  PCMSK2 = _BV(PCINT20);
  EIFR = _BV(INTF0) | _BV(INTF1);   // what the pull-ups did while they rose is no edge
  PCIFR = _BV(PCIF0) | _BV(PCIF1) | _BV(PCIF2);
  EIMSK = _BV(INT0) | _BV(INT1);
  PCICR = _BV(PCIE0) | _BV(PCIE1) | _BV(PCIE2);
}
#else
ISR(INT4_vect) { box.edge(0, !(PINE & _BV(PE4)), micros()); }
ISR(INT5_vect) { box.edge(1, !(PINE & _BV(PE5)), micros()); }
ISR(INT3_vect) { box.edge(2, !(PIND & _BV(PD3)), micros()); }
ISR(INT2_vect) { box.edge(3, !(PIND & _BV(PD2)), micros()); }
ISR(INT1_vect) { box.edge(4, !(PIND & _BV(PD1)), micros()); }

static void enable_interrupts() {
  EICRA = _BV(ISC10) | _BV(ISC20) | _BV(ISC30);  // both edges
  EICRB = _BV(ISC40) | _BV(ISC50);
  EIFR = _BV(INTF1) | _BV(INTF2) | _BV(INTF3) | _BV(INTF4) | _BV(INTF5);
  EIMSK = _BV(INT1) | _BV(INT2) | _BV(INT3) | _BV(INT4) | _BV(INT5);
}
#endif

// Why the processor started: bits of MCUSR. The watchdog that has reset it still runs, at its quickest.
static uint8_t reset_cause() {
  const uint8_t cause = uint8_t((MCUSR ? MCUSR : optiboots_cause) & 0x0F);
  MCUSR = 0;
  wdt_disable();
  return cause;
}

static uint16_t count_start() {
  const uint16_t boot = uint16_t(eeprom_read_word(&stored_boot) + 1);  // a fresh EEPROM is all ones: the first start is 0
  eeprom_update_word(&stored_boot, boot);
  return boot;
}

// A used Arduino's EEPROM holds what its last sketch left there: only a legal name is one.
static void read_name(char* name) {
  eeprom_read_block(name, stored_name, WORD_MAX + 1);
  name[WORD_MAX] = 0;
  if (!is_name(name)) strcpy(name, "BOX1");
}

static uint8_t closed_contacts() {
  uint8_t closed = 0;
  for (uint8_t i = 0; i < CONTACTS; i++)
    if (!digitalRead(BUTTON_PINS[i])) closed = uint8_t(closed | 1 << i);
  return closed;
}

void setup() {
  const uint8_t cause = reset_cause();
  char name[WORD_MAX + 1];
  Serial.begin(BAUD);
  for (uint8_t i = 0; i < PLAYERS; i++) pinMode(LAMP_PINS[i], OUTPUT);
  pinMode(CONNECTED_LAMP_PIN, OUTPUT);
  pinMode(ARMED_LAMP_PIN, OUTPUT);
  for (uint8_t i = 0; i < CONTACTS; i++) pinMode(BUTTON_PINS[i], INPUT_PULLUP);
  for (uint8_t i = 0; i < PADS; i++) pinMode(PAD_PINS[i], INPUT_PULLUP);
  read_name(name);
  delay(SETTLE_MS);
  noInterrupts();  // between looking at the pins and listening to their edges nothing may be missed
  enable_interrupts();
  box.start(name, count_start(), closed_contacts(), cause);
  interrupts();
#if BOX_WATCHDOG
  wdt_enable(WDTO_250MS);
#endif
}

void loop() {
#if BOX_WATCHDOG
  wdt_reset();
#endif
  while (box.ready() && Serial.available()) box.take(char(Serial.read()));
  box.poll();
}
#endif  // BOX_BOARD
