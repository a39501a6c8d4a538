// The button box: who pressed Stop first, by the box's own clock. Arduino Uno or Nano (ATmega328P, 16 MHz).
// Wiring and protocol: ../README.md. Everything that can be wrong is in the headers, which are tested on a PC;
// this file only joins them to pins, clock, serial line and EEPROM.

#include <avr/eeprom.h>

#include "box.h"

// Every button has an interrupt vector of its own, whose flag latches an edge even when the pulse is over before
// anybody can look at the pin: real contacts begin with pulses of 1 or 2 microseconds.
//                 Stop 1  Stop 2  Stop 3   Stop 4   Start/Next
//                 INT0    INT1    PCINT0   PCINT1   PCINT2
const uint8_t BUTTON_PINS[CONTACTS] = {2, 3, 8, A0, 4};
const uint8_t FIRST_LAMP_PIN = 9;  // D9 to D12
const uint8_t BUZZER_PIN = 6;
const unsigned BUZZER_HZ = 2300;   // where small piezo discs are loudest
const long BAUD = 115200;

uint16_t EEMEM stored_boot;
char EEMEM stored_name[WORD_MAX + 1];

struct Board {
  struct Guard {
    uint8_t sreg = SREG;
    Guard() { noInterrupts(); }
    ~Guard() { SREG = sreg; }
  };

  uint32_t micros() { return ::micros(); }
  void lamp(uint8_t player, bool on) { digitalWrite(FIRST_LAMP_PIN + player, on); }
  bool room() { return Serial.availableForWrite() > 0; }
  void write(char c) { Serial.write(c); }
  void keep_name(const char* name) { eeprom_update_block(name, stored_name, WORD_MAX + 1); }

  void buzzer(bool on) {
    if (on) {
      tone(BUZZER_PIN, BUZZER_HZ);
    } else {
      noTone(BUZZER_PIN);
    }
  }
};

Board board;
Box<Board> box(board);

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

static uint16_t count_start() {
  const uint16_t boot = eeprom_read_word(&stored_boot) + 1;  // a fresh EEPROM is all ones: the first start is 0
  eeprom_update_word(&stored_boot, boot);
  return boot;
}

static void read_name(char* name) {
  eeprom_read_block(name, stored_name, WORD_MAX + 1);
  name[WORD_MAX] = 0;
  if (name[0] == 0 || name[0] == char(0xFF)) strcpy(name, "BOX1");
}

void setup() {
  char name[WORD_MAX + 1];
  Serial.begin(BAUD);
  for (uint8_t i = 0; i < PLAYERS; i++) pinMode(FIRST_LAMP_PIN + i, OUTPUT);
  for (uint8_t i = 0; i < CONTACTS; i++) pinMode(BUTTON_PINS[i], INPUT_PULLUP);
  read_name(name);
  box.start(name, count_start());
  enable_interrupts();
  for (uint8_t i = 0; i < CONTACTS; i++)  // a button that is down at power-on is seen as such
    if (!digitalRead(BUTTON_PINS[i])) box.edge(i, true, micros());
}

void loop() {
  while (box.ready() && Serial.available()) box.take(char(Serial.read()));
  box.poll();
}
