/* The pins of the boards and how to hold them, for both simulations. Buttons, then pads; lamps as in box.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simavr/avr_eeprom.h>
#include <simavr/avr_extint.h>
#include <simavr/avr_ioport.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>

enum { MHZ = 16, BUTTONS = 5, CONTACTS = 7, LAMPS = 6 };

typedef struct { char port; int bit; } Pin;
typedef struct {
  const char* name;
  const char* mcu;
  int interrupts;
  Pin contact[CONTACTS], lamp[LAMPS], buzzer;
} Board;

static const Board BOARDS[] = {
    {"uno", "atmega328p", 2,
     {{'D', 2}, {'D', 3}, {'B', 0}, {'C', 0}, {'D', 4}, {'C', 1}, {'C', 2}},
     {{'B', 1}, {'B', 2}, {'B', 3}, {'B', 4}, {'B', 5}, {'D', 7}}, {'D', 6}},
    {"mega", "atmega2560", 8,
     {{'E', 4}, {'E', 5}, {'D', 3}, {'D', 2}, {'D', 1}, {'F', 1}, {'F', 2}},
     {{'H', 6}, {'B', 4}, {'B', 5}, {'B', 6}, {'B', 7}, {'H', 4}}, {'H', 3}},
};

static const Board* board;
static avr_t* avr;
static int closed_now[CONTACTS];

/* Without this, any write to a PORT register sets pull-up inputs high again. */
static void hold_levels(char port) {
  avr_ioport_external_t external = {.name = (unsigned char)port};
  for (int i = 0; i < CONTACTS; i++) {
    if (board->contact[i].port != port) continue;
    external.mask |= 1 << board->contact[i].bit;
    external.value |= !closed_now[i] << board->contact[i].bit;
  }
  avr_ioctl(avr, AVR_IOCTL_IOPORT_SET_EXTERNAL(port), &external);
}

static void set_contact(int i, int closed) {
  const Pin pin = board->contact[i];
  closed_now[i] = closed;
  hold_levels(pin.port);
  avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ(pin.port), pin.bit), !closed);
}

/* After a reset, which forgets the levels; twice, as an unchanged level is not passed on. */
static void hold_contacts(void) {
  for (int i = 0; i < CONTACTS; i++) {
    set_contact(i, !closed_now[i]);
    set_contact(i, !closed_now[i]);
  }
}

static void reset_board(void) {
  const avr_cycle_count_t cycle = avr->cycle;
  avr_reset(avr);
  avr->cycle = cycle;
  hold_contacts();
}

static void set_eeprom(const char* hex) {
  uint8_t bytes[64];
  avr_eeprom_desc_t part = {.ee = bytes, .offset = 0};
  unsigned byte;
  for (; sscanf(hex, "%2x", &byte) == 1 && part.size < sizeof bytes; hex += 2) bytes[part.size++] = (uint8_t)byte;
  avr_ioctl(avr, AVR_IOCTL_EEPROM_SET, &part);
}

typedef void Notify(avr_irq_t*, uint32_t, void*);

static avr_irq_t* make_board(const char* name, const char* elf, Notify* byte_out, Notify* lamp, Notify* buzzer) {
  elf_firmware_t firmware = {0};
  board = strcmp(name, "mega") == 0 ? &BOARDS[1] : &BOARDS[0];
  if (elf_read_firmware(elf, &firmware) != 0) exit(3);
  avr = avr_make_mcu_by_name(board->mcu);
  if (avr == NULL) exit(3);
  avr_init(avr);
  firmware.frequency = MHZ * 1000000;
  avr_load_firmware(avr, &firmware);
  avr->frequency = MHZ * 1000000;
  avr->log = 1;
  uint32_t flags = 0;
  avr_ioctl(avr, AVR_IOCTL_UART_GET_FLAGS('0'), &flags);
  flags &= ~(uint32_t)(AVR_UART_FLAG_STDIO | AVR_UART_FLAG_POLL_SLEEP);
  avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
  avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), byte_out, NULL);
  for (intptr_t i = 0; i < LAMPS; i++) {
    const Pin pin = board->lamp[i];
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ(pin.port), pin.bit), lamp, (void*)i);
  }
  avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ(board->buzzer.port), board->buzzer.bit), buzzer, NULL);
  for (int i = 0; i < board->interrupts; i++) avr_extint_set_strict_lvl_trig(avr, i, 0); /* three times quicker */
  for (int i = 0; i < CONTACTS; i++) set_contact(i, 0);
  return avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT);
}
