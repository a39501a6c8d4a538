// Which pin is what, for each board that is known. ../wiring.py draws these tables, and a test holds the drawing
// against them.
//
// Every button has an interrupt vector of its own, whose flag latches an edge even when the pulse is over before
// anybody can look at the pin: real contacts begin with pulses of 1 or 2 microseconds.
#pragma once
#include <stdint.h>

#include "arbitration.h"
#include "pads.h"

#if F_CPU != 16000000L
#error "The button box is made for a 16 MHz clock: its serial speed and its times would be wrong on this board."
#elif defined(__AVR_ATmega328P__)
#define BOX_BOARD "uno"            // and Nano
//                                     Stop 1  Stop 2  Stop 3  Stop 4  Start/Next
//                                     INT0    INT1    PCINT0  PCINT1  PCINT2
const uint8_t BUTTON_PINS[CONTACTS] = {2,      3,      8,      A0,     4};
#elif defined(__AVR_ATmega2560__)
#define BOX_BOARD "mega"           // no pin-change interrupt at D4, D8 and A0, so other pins
//                                     INT4    INT5    INT3    INT2    INT1
const uint8_t BUTTON_PINS[CONTACTS] = {2,      3,      18,     19,     20};
#else
#error "The button box runs on boards with an ATmega328P (Uno, Nano) or an ATmega2560 (Mega): choose one under Tools > Board."
#endif

const uint8_t LAMP_PINS[PLAYERS] = {9, 10, 11, 12};
const uint8_t CONNECTED_LAMP_PIN = 13;    // the board's own LED
const uint8_t ARMED_LAMP_PIN = 7;
const uint8_t PAD_PINS[PADS] = {A1, A2};
const uint8_t BUZZER_PIN = 6;
