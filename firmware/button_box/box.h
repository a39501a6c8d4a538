// The whole box between its pins and its serial line. `Board` is the only hardware:
//   uint32_t micros();  void lamp(uint8_t, bool);  void tone(uint16_t hz);  bool pad(uint8_t);  bool room();
//   void write(char);  void keep_name(const char*);  struct Guard {};   (a Guard holds interrupts off while it lives)
#pragma once
#include "arbitration.h"
#include "events.h"
#include "pads.h"
#include "sentence.h"
#include "signals.h"
#include "wide_clock.h"

#define BOX_VERSION "2.0"
const uint32_t STUCK_US = 5000000;
const uint32_t HOST_AWAY_US = 2000000;  // without a command: the host is not there

// Lamps of the box: the players', then these two.
const uint8_t CONNECTED_LAMP = PLAYERS;
const uint8_t ARMED_LAMP = PLAYERS + 1;
const uint8_t LAMPS = PLAYERS + 2;

template <class Board>
class Box {
 public:
  explicit Box(Board& board) : board_(board) {}

  // Power has come on. `closed` are the contacts that are down, as bits; `cause` is why the processor started.
  void start(const char* name, uint16_t boot, uint8_t closed, uint8_t cause) {
    strncpy(name_, name, WORD_MAX);
    boot_ = boot;
    cause_ = cause;
    const uint64_t now_us = clock_.advance(board_.micros());
    events_.add(Event{"BOT", now_us, 1, boot, cause, 0});
    for (uint8_t i = 0; i < CONTACTS; i++) contacts_[i].power_on(closed >> i & 1, uint32_t(now_us));
    tell_held(closed);
  }

  // The pin of button i changed. Called from its interrupt.
  void edge(uint8_t i, bool closed, uint32_t now_us) { contacts_[i].edge(closed, now_us); }

  // Whether a byte from the host can be taken now.
  bool ready() const { return !waiting_; }

  // A byte from the host. '$' always begins anew, so that a torn line cannot swallow the next.
  void take(char c) {
    if (c == '$') {
      length_ = 0;
      good_ = true;
      store(c);
    } else if (c != '\r' && c != '\n') {
      if (length_ > 0) store(c);
    } else if (length_ > 0) {
      waiting_ = true;
      obey_if_free();
    }
  }

  // One turn of the loop.
  void poll() {
    look_at_clock();
    for (uint8_t i = 0; i < CONTACTS; i++) look_at(i);
    tell_presses();
    look_for_stuck();
    look_at_pads();
    if (arbiter_.phase == Phase::COUNTING) count_down();
    if (sounding_ && int32_t(now32() - sound_until_us_) >= 0) hush();
    show();
    pump();
    obey_if_free();
  }

  Phase phase() const { return arbiter_.phase; }

 private:
  Board& board_;
  Contact contacts_[CONTACTS];
  Pad pads_[PADS];
  Arbiter arbiter_;
  Events events_;
  WideClock clock_;
  Writer out_;
  uint8_t sent_ = 0;              // characters of out_ that are on the wire
  bool full_ = false;             // out_ holds a sentence
  char line_[LINE_MAX];
  uint8_t length_ = 0;
  bool good_ = true;              // the line so far is printable and not too long
  bool waiting_ = false;          // a whole line waits for out_ to be free
  uint8_t protocol_ = 1;          // what the host has asked for in its hello
  char name_[WORD_MAX + 1] = {};
  uint16_t boot_ = 0;
  uint8_t cause_ = 0;
  uint32_t done_ = 0;             // number of the last command carried out
  Lamp lamps_[PLAYERS] = {};
  uint8_t shining_ = 0;           // bits of the lamps that are lit
  bool host_there_ = false;
  uint32_t heard_us_ = 0;         // when the host last said something sensible
  bool sounding_ = false;
  uint32_t sound_until_us_ = 0;
  uint32_t count_since_us_ = 0;
  uint8_t counted_ = 0;           // tones of the countdown so far
  uint32_t go_us_ = 0;
  bool testing_ = false;
  uint32_t test_since_us_ = 0;
  uint32_t longest_us_ = 0;       // longest turn of the loop since the last self-test

  uint32_t now32() const { return uint32_t(clock_.now()); }

  void look_at_clock() {
    const uint32_t before_us = now32();
    clock_.advance(board_.micros());
    if (now32() - before_us > longest_us_) longest_us_ = now32() - before_us;
  }

  // --- buttons

  // Interrupts are off for one contact at a time, a few microseconds, so that no edge is stamped late.
  void look_at(uint8_t i) {
    uint8_t news;
    {
      typename Board::Guard guard;
      news = contacts_[i].poll(board_.micros());
    }
    if (news == Contact::NOTHING) return;
    look_at_clock();
    if (news & Contact::FREED && i < PLAYERS) minor("FRE", i);
    if (news & Contact::NOISY) minor("NOI", i);
    if (news & Contact::QUIET) minor("QUI", i);
  }

  // An edge that comes while the contacts are copied one by one is later than any press that is confirmed already.
  void tell_presses() {
    Contact copies[PLAYERS];
    for (uint8_t i = 0; i < PLAYERS; i++) {
      typename Board::Guard guard;
      copies[i] = contacts_[i];
    }
    for (uint8_t i; (i = settled(copies)) != NONE;) {
      copies[i].fresh = contacts_[i].fresh = false;
      if (!contacts_[i].held) press(i, clock_.past(contacts_[i].first_us));  // which stands still while it is down
    }
    if (contacts_[NEXT].fresh) {
      contacts_[NEXT].fresh = false;
      if (!contacts_[NEXT].held) events_.add_minor(Event{"NXT", clock_.past(contacts_[NEXT].first_us), 0, 0, 0, 0});
    }
  }

  void press(uint8_t i, uint64_t at_us) {
    const uint8_t rank = arbiter_.rank(i);
    if (rank == NONE) return;
    const Event event{"PRS", at_us, 2, i, rank, arbiter_.run};
    if (rank == 0) return events_.add_minor(event);
    if (rank == 1) {
      lamps_[i] = Lamp::ON;
      sound(STOP_TONE);
    }
    events_.add(event);
  }

  void look_for_stuck() {
    for (uint8_t i = 0; i < PLAYERS; i++) {
      Contact& contact = contacts_[i];
      if (contact.state != Contact::DOWN || contact.stuck || now32() - contact.first_us < STUCK_US) continue;
      contact.stuck = true;
      minor("STK", i);
    }
  }

  void log(const char* kind, uint64_t at_us, uint8_t fields, uint16_t value) {
    events_.add(Event{kind, at_us, fields, value, 0, arbiter_.run});
  }

  void minor(const char* kind, uint8_t i) { events_.add_minor(Event{kind, clock_.now(), 1, i, 0, 0}); }

  // --- pads and countdown

  void look_at_pads() {
    for (uint8_t i = 0; i < PADS; i++)
      if (pads_[i].poll(board_.pad(i), now32()) && too_early(pads_[i].changed_us)) false_start(i);
  }

  // That a pad has been left is known only a little later; the go may have sounded meanwhile.
  bool too_early(uint32_t left_us) const {
    return arbiter_.phase == Phase::COUNTING || (!arbiter_.waiting() && earlier(left_us, go_us_));
  }

  bool at_rest() const {
    for (uint8_t i = 0; i < PADS; i++)
      if (pads_[i].missing()) return false;
    return true;
  }

  void false_start(uint8_t i) {
    log("FLS", clock_.past(pads_[i].changed_us), 1, i);
    if (arbiter_.phase != Phase::COUNTING) return;
    arbiter_.arm();
    sound(FALSE_START_TONE);
  }

  // Three, two, one: a tone each second, then the go.
  void begin_count() {
    if (!arbiter_.count()) return;
    count_since_us_ = now32();
    counted_ = 1;
    sound(COUNT_TONE);
    for (uint8_t i = 0; i < PADS; i++)
      if (pads_[i].missing()) false_start(i);
  }

  void count_down() {
    if (now32() - count_since_us_ < counted_ * COUNT_STEP_US) return;
    if (counted_ == COUNT_STEPS) return go();
    counted_++;
    sound(COUNT_TONE);
  }

  // --- lamps and tones

  void sound(const Tone& tone) {
    sounding_ = true;
    sound_until_us_ = now32() + tone.for_us;
    board_.tone(tone.hz);
  }

  void hush() {
    sounding_ = false;
    board_.tone(0);
  }

  void lamps_off() {
    for (uint8_t i = 0; i < PLAYERS; i++) lamps_[i] = Lamp::OFF;
  }

  void show() {
    const uint32_t step = (now32() - test_since_us_) / TEST_STEP_US;
    testing_ = testing_ && step < PLAYERS;
    for (uint8_t i = 0; i < PLAYERS; i++) light(i, testing_ ? step == i : player_lamp(i));
    host_there_ = host_there_ && now32() - heard_us_ < HOST_AWAY_US;
    light(CONNECTED_LAMP, host_there_);
    const bool ready = arbiter_.phase == Phase::ARMED || arbiter_.phase == Phase::COUNTING;
    light(ARMED_LAMP, ready && at_rest());
  }

  bool player_lamp(uint8_t i) const {
    const bool noisy = contacts_[i].noisy && lamps_[i] == Lamp::OFF;
    return noisy ? flickers(now32()) : shines(lamps_[i], now32());
  }

  void light(uint8_t lamp, bool on) {
    if ((shining_ >> lamp & 1) == on) return;
    shining_ = uint8_t(shining_ ^ 1 << lamp);
    board_.lamp(lamp, on);
  }

  // --- what goes out

  void pump() {
    drain();
    uint32_t number;
    const Event* event = full_ ? nullptr : events_.next(number);
    if (event == nullptr) return;
    out_.begin(protocol_ == 1 ? old_kind(event->kind) : event->kind, number);
    out_.add(event->at_us);
    if (event->fields > 0) out_.add(event->value);
    if (event->fields > 1) out_.add(event->rank);
    if (protocol_ > 1) add_new_fields(*event);
    finish();
    drain();
  }

  void add_new_fields(const Event& event) {
    if (is(event.kind, "BOT")) out_.add(event.rank);
    if (is(event.kind, "PRS") || is(event.kind, "GOO")) out_.add(name_).add(boot_).add(event.run);
  }

  // A host of protocol 1 would not know these and ask for them for ever.
  static const char* old_kind(const char* kind) {
    if (is(kind, "NOI")) return "STK";
    return is(kind, "QUI") || is(kind, "FLS") ? "FRE" : kind;
  }

  void drain() {
    while (full_ && board_.room()) {
      board_.write(out_.data()[sent_++]);
      full_ = sent_ < out_.length();
    }
  }

  Writer& reply(const char* kind, uint32_t number) {
    out_.begin(kind, number);
    return out_.add(clock_.advance(board_.micros()));
  }

  void finish() {
    out_.end(protocol_);
    sent_ = 0;
    full_ = true;
  }

  // --- what comes in

  void store(char c) {
    if (length_ == LINE_MAX || c < 0x20 || c > 0x7E) {
      good_ = false;
    } else {
      line_[length_++] = c;
    }
  }

  void obey_if_free() {
    if (!waiting_ || full_) return;
    waiting_ = false;
    Command command;
    if (good_ && Parser(line_, length_).parse(command) && (command.protocol == protocol_ || is(command.kind, "HEL"))) {
      host_there_ = true;
      heard_us_ = uint32_t(clock_.advance(board_.micros()));
      obey(command);
    } else {
      refuse(0, "line");
    }
    length_ = 0;
  }

  void obey(const Command& c) {
    if (is(c.kind, "CLK")) return clock_query(c);
    if (is(c.kind, "ACK")) return acknowledge(c);
    if (is(c.kind, "RSN")) return events_.rewind(c.value[0]);
    if (is(c.kind, "HEL")) return hello(c);
    if (is(c.kind, "TST")) return self_test(c);
    if (is(c.kind, "CNT")) return counts(c);
    if (is(c.kind, "LMP") && (c.value[0] >= PLAYERS || c.value[1] >= (protocol_ == 1 ? 2 : LAMP_MODES)))
      return refuse(c.number, "fields");
    if (is(c.kind, "GOO") && c.number != done_ && arbiter_.phase != Phase::ARMED) return refuse(c.number, "not_armed");
    const bool repeated = c.number == done_;
    done_ = c.number;
    if (!repeated) carry_out(c);
    reply("ACK", c.number).add(phase_name(arbiter_.phase));
    finish();
  }

  static bool is(const char* kind, const char* other) { return strcmp(kind, other) == 0; }

  void carry_out(const Command& c) {
    if (is(c.kind, "ARM")) {
      arbiter_.arm();
      lamps_off();
    } else if (is(c.kind, "GOO")) {
      if (protocol_ > 1 && c.value[0] != 0) {
        begin_count();
      } else {
        go();
      }
    } else if (is(c.kind, "RUN")) {
      resume();
    } else if (is(c.kind, "DIS")) {
      arbiter_.disarm();
      hush();
    } else if (is(c.kind, "LMP")) {
      lamps_[c.value[0]] = Lamp(uint8_t(c.value[1]));
    } else {
      strcpy(name_, c.word);
      board_.keep_name(name_);
    }
  }

  void go() {
    const uint8_t held = begin_duel();
    sound(GO_TONE);
    log("GOO", clock_.now(), 0, 0);
    tell_held(held);
    for (uint8_t i = 0; i < PADS; i++)
      if (pads_[i].missing()) false_start(i);
  }

  // Goes on with a duel that a restart of the box, or a void press, has interrupted: no tone, no go.
  void resume() {
    if (!arbiter_.waiting()) return;
    arbiter_.arm();
    tell_held(begin_duel());
  }

  // From here on presses count. A button that is down, or that has just begun to close, is held: its press does not.
  uint8_t begin_duel() {
    typename Board::Guard guard;
    uint8_t held = 0;
    go_us_ = uint32_t(clock_.advance(board_.micros()));
    arbiter_.go();
    for (uint8_t i = 0; i < PLAYERS; i++) {
      contacts_[i].held = contacts_[i].engaged();
      if (contacts_[i].held) held = uint8_t(held | 1 << i);
    }
    return held;
  }

  void tell_held(uint8_t held) {
    for (uint8_t i = 0; i < PLAYERS; i++)
      if (held >> i & 1) log("HLD", clock_.now(), 1, i);
  }

  void hello(const Command& c) {
    done_ = 0;
    protocol_ = c.protocol == 1 ? 1 : PROTOCOL;
    reply("HEL", c.number);
    if (protocol_ > 1) out_.add(protocol_);
    out_.add(BOX_VERSION).add(name_).add(boot_).add(PLAYERS);
    out_.add(events_.first()).add(events_.last()).add(events_.overwritten());
    finish();
  }

  void clock_query(const Command& c) {
    reply("CLK", c.number).add(boot_).add(events_.first()).add(events_.last());
    if (protocol_ > 1) out_.add(lines());
    finish();
  }

  // How the lines are, as bits: noisy contacts from bit 0, pads at rest from bit 5, pads that are wired from bit 7.
  uint16_t lines() const {
    uint16_t bits = 0;
    for (uint8_t i = 0; i < CONTACTS; i++) bits = uint16_t(bits | uint16_t(contacts_[i].noisy) << i);
    for (uint8_t i = 0; i < PADS; i++)
      bits = uint16_t(bits | uint16_t(pads_[i].resting) << (CONTACTS + i) | uint16_t(pads_[i].wired) << (CONTACTS + PADS + i));
    return bits;
  }

  // An acknowledgement that was under way while the box restarted speaks of other events.
  void acknowledge(const Command& c) {
    if (c.value[1] == boot_) events_.acknowledge(c.value[0]);
  }

  void self_test(const Command& c) {
    uint8_t closed = 0;
    for (uint8_t i = 0; i < CONTACTS; i++) closed = uint8_t(closed | uint8_t(contacts_[i].closed) << i);
    if (c.number != done_) {
      testing_ = true;
      test_since_us_ = now32();
      sound(TEST_TONE);
    }
    done_ = c.number;
    reply("TST", c.number).add(closed).add(longest_us_);
    if (protocol_ > 1) out_.add(cause_);
    longest_us_ = 0;
    finish();
  }

  // What a button's line did since it was last asked.
  void counts(const Command& c) {
    if (c.value[0] >= CONTACTS) return refuse(c.number, "fields");
    Contact& contact = contacts_[c.value[0]];
    uint16_t edges;
    uint32_t settle_us, gap_us;
    {
      typename Board::Guard guard;
      edges = contact.edges;
      settle_us = contact.settle_us;
      gap_us = contact.gap_us;
      contact.edges = 0;
      contact.settle_us = contact.gap_us = 0;
    }
    reply("CNT", c.number).add(c.value[0]).add(edges).add(settle_us).add(gap_us);
    finish();
  }

  void refuse(uint32_t number, const char* why) {
    reply("ERR", number).add(why);
    finish();
  }
};
