/* Runs the compiled firmware in simavr, its UART on a pseudo-terminal of its own and its pins under text commands.
 *
 *   simavr_box FIRMWARE.elf LINK SPEED DELAY_US SEED [EEPROM]
 *
 * LINK becomes a symbolic link to the terminal. SPEED 0 runs as fast as it can, 1 keeps pace with the wall clock.
 * Every line takes 0 to DELAY_US of simulated time more in either direction, without overtaking.
 * Commands on standard input, times in microseconds of simulated time, relative to the command:
 *   edge BUTTON CLOSED AT      one change of a contact; 5 and 6 are the pads
 *   reset                      the reset button
 *   quit
 * Standard output: "edge BUTTON CLOSED US", "lamp N ON US", "buzz US", "reset US" as they happen. */
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "simavr_board.h"

enum { QUEUE = 1 << 14, EDGES = 1 << 14, TURN_US = 200, BYTE_US = 40, BUZZ_GAP_US = 50000 };

typedef struct { uint8_t byte[QUEUE]; uint64_t due[QUEUE]; unsigned head, tail; uint64_t free_us; int fresh; } Line;
typedef struct { uint64_t at; int button, closed; } Edge;

static const double MISSED_S = 0.005;

static avr_irq_t* uart_in;
static Line to_host, to_box;
static Edge edges[EDGES];
static int edge_count, master = -1, open_before, running = 1;
static uint64_t delay_us;
static int64_t buzz_us = -1000000;

static uint64_t now_us(void) { return avr->cycle / MHZ; }

/* --- the line: whole sentences are delayed, bytes keep their order */

static void put(Line* line, uint8_t byte) {
  if (line->fresh) {
    const uint64_t due = now_us() + (delay_us ? (uint64_t)random() % (delay_us + 1) : 0);
    if (due > line->free_us) line->free_us = due;
  }
  line->fresh = byte == '\n';
  if (line->head - line->tail == QUEUE) return;
  line->byte[line->head % QUEUE] = byte;
  line->due[line->head++ % QUEUE] = line->free_us;
}

static int take(Line* line, uint8_t* byte) {
  if (line->head == line->tail || line->due[line->tail % QUEUE] > now_us()) return 0;
  *byte = line->byte[line->tail++ % QUEUE];
  return 1;
}

static void from_avr(avr_irq_t* irq, uint32_t value, void* param) { put(&to_host, (uint8_t)value); }

static int host_is_there(void) {
  struct pollfd wait = {master, POLLIN, 0};
  poll(&wait, 1, 0);
  return !(wait.revents & POLLHUP);
}

static void serve_host(void) {
  uint8_t byte, buffer[256];
  const int open_now = host_is_there();
  if (open_now) {
    for (ssize_t n = read(master, buffer, sizeof buffer), i = 0; i < n; i++) put(&to_box, buffer[i]);
  }
  while (take(&to_host, &byte))
    if (open_now && open_before && write(master, &byte, 1) != 1) break; /* without a host bytes go nowhere */
  open_before = open_now;
}

static void feed_box(void) {
  uint8_t byte;
  for (int i = 0; i < TURN_US / BYTE_US && take(&to_box, &byte); i++) avr_raise_irq(uart_in, byte);
}

/* --- pins */

static avr_cycle_count_t next_edge(avr_t* a, avr_cycle_count_t when, void* param) {
  while (edge_count > 0 && edges[0].at <= avr->cycle) {
    set_contact(edges[0].button, edges[0].closed);
    printf("edge %d %d %.2f\n", edges[0].button, edges[0].closed, (double)avr->cycle / MHZ);
    memmove(edges, edges + 1, --edge_count * sizeof *edges);
  }
  return edge_count > 0 ? edges[0].at : 0;
}

static void schedule(void) {
  avr_cycle_timer_cancel(avr, next_edge, NULL);
  if (edge_count == 0) return;
  avr_cycle_timer_register(avr, edges[0].at > avr->cycle ? edges[0].at - avr->cycle : 1, next_edge, NULL);
}

static void add_edge(int button, int closed, uint64_t after_us) {
  const Edge edge = {avr->cycle + after_us * MHZ, button, closed};
  int i = edge_count;
  if (edge_count == EDGES || button < 0 || button >= CONTACTS) return;
  for (; i > 0 && edges[i - 1].at > edge.at; i--) edges[i] = edges[i - 1];
  edges[i] = edge;
  edge_count++;
  schedule();
}

static void lamp_changed(avr_irq_t* irq, uint32_t value, void* param) {
  printf("lamp %d %d %llu\n", (int)(intptr_t)param, (int)value, (unsigned long long)now_us());
}

static void buzzer_changed(avr_irq_t* irq, uint32_t value, void* param) {
  if (value && (int64_t)now_us() - buzz_us > BUZZ_GAP_US) printf("buzz %llu\n", (unsigned long long)now_us());
  if (value) buzz_us = now_us();
}

/* --- commands */

static void reset(void) {
  reset_board();
  schedule();
  printf("reset %llu\n", (unsigned long long)now_us());
}

static void obey(const char* line) {
  int button, closed;
  unsigned long long after_us;
  if (sscanf(line, "edge %d %d %llu", &button, &closed, &after_us) == 3) add_edge(button, closed, after_us);
  else if (strncmp(line, "reset", 5) == 0) reset();
  else running = 0;
}

static void serve_commands(void) {
  static char text[4096];
  static size_t length;
  const ssize_t n = read(STDIN_FILENO, text + length, sizeof text - 1 - length);
  if (n == 0) running = 0; /* the test is gone */
  if (n <= 0) return;
  length += n;
  for (char* end; (end = memchr(text, '\n', length)) != NULL;) {
    *end = 0;
    obey(text);
    length -= end + 1 - text;
    memmove(text, end + 1, length);
  }
}

/* --- time */

static double wall_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Waits for the wall clock. What a busy machine has missed is not made up for: that would run the box too quick. */
static void keep_pace(double* start_s) {
  const double ahead_s = *start_s + now_us() * 1e-6 - wall_s();
  if (ahead_s > 0.0005) usleep((useconds_t)(ahead_s * 1e6));
  if (ahead_s < -MISSED_S) *start_s -= ahead_s;
}

/* --- set-up */

static void open_terminal(const char* link) {
  char name[128];
  int slave;
  if (openpty(&master, &slave, name, NULL, NULL) != 0) exit(3);
  struct termios raw;
  tcgetattr(slave, &raw);
  cfmakeraw(&raw);
  tcsetattr(slave, TCSANOW, &raw);
  close(slave);
  fcntl(master, F_SETFL, O_NONBLOCK);
  fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
  if (symlink(name, link) != 0) exit(3);
}

int main(int argc, char** argv) {
  if (argc != 6 && argc != 7) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  const int paced = atoi(argv[3]);
  delay_us = strtoull(argv[4], NULL, 10);
  srandom(atoi(argv[5]));
  to_host.fresh = to_box.fresh = 1;
  uart_in = make_board("uno", argv[1], from_avr, lamp_changed, buzzer_changed);
  if (argc == 7) set_eeprom(argv[6]);
  open_terminal(argv[2]);
  printf("ready\n");
  double start_s = wall_s();
  for (uint64_t next_us = 0; running; next_us += TURN_US) {
    while (now_us() < next_us) {
      const int state = avr_run(avr);
      if (state == cpu_Done || state == cpu_Crashed) return 4;
    }
    feed_box();
    serve_host();
    serve_commands();
    if (paced) keep_pace(&start_s);
  }
  return 0;
}
