// The button box: who pressed Stop first, by the box's own clock. Arduino Uno or Nano (ATmega328P, 16 MHz).
// Wiring and protocol: ../README.md. Everything that can be wrong is in the headers, which are tested on a PC;
// this file only joins them to pins, clock, serial line and EEPROM.

#include <avr/eeprom.h>

#include "box.h"

// Stop buttons of players 1 to 4 on A0 to A3 and Start/Next on A4, each to ground: one port, so that one read of it
// is one instant for all of them.
const uint8_t BUTTON_MASK = 0x1F;
const uint8_t FIRST_LAMP_PIN = 4;  // D4 to D7
const uint8_t BUZZER_PIN = 9;
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

ISR(PCINT1_vect) {
  const uint8_t closed = ~PINC & BUTTON_MASK;
  box.edges(closed, micros());
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
  for (uint8_t pin = A0; pin <= A4; pin++) pinMode(pin, INPUT_PULLUP);
  read_name(name);
  box.start(name, count_start());
  box.edges(~PINC & BUTTON_MASK, micros());  // a button that is down at power-on is seen as such
  PCMSK1 = BUTTON_MASK;
  PCIFR = 1 << PCIF1;
  PCICR |= 1 << PCIE1;
}

void loop() {
  while (box.ready() && Serial.available()) box.take(char(Serial.read()));
  box.poll();
}
