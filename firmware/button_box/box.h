// The whole box between its pins and its serial line. `Board` is the only hardware:
//   uint32_t micros();  void lamp(uint8_t, bool);  void buzzer(bool);  bool room();  void write(char);
//   void keep_name(const char*);  struct Guard {};   (a Guard holds interrupts off while it lives)
#pragma once
#include "arbitration.h"
#include "events.h"
#include "sentence.h"
#include "wide_clock.h"

#define BOX_VERSION "1.0"
const uint32_t STUCK_US = 5000000;
const uint32_t BUZZ_US = 600000;
const uint32_t TEST_STEP_US = 250000;  // one lamp of the self-test

template <class Board>
class Box {
 public:
  explicit Box(Board& board) : board_(board) {}

  void start(const char* name, uint16_t boot) {
    strncpy(name_, name, WORD_MAX);
    boot_ = boot;
    clock_.advance(board_.micros());
    log("BOT", clock_.now(), 1, boot);
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
    poll_contacts();
    for (uint8_t i; (i = next_settled()) != NONE;) tell(i);
    look_for_stuck();
    if (buzzing_ && int32_t(now32() - buzz_until_us_) >= 0) buzz(false);
    test_turn();
    pump();
    obey_if_free();
  }

  Phase phase() const { return arbiter_.phase; }

 private:
  Board& board_;
  Contact contacts_[CONTACTS];
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
  char name_[WORD_MAX + 1] = {};
  uint16_t boot_ = 0;
  uint32_t done_ = 0;             // number of the last command carried out
  bool buzzing_ = false;
  uint32_t buzz_until_us_ = 0;
  bool testing_ = false;
  uint32_t test_since_us_ = 0;
  uint32_t longest_us_ = 0;       // longest turn of the loop since the last self-test

  uint32_t now32() const { return uint32_t(clock_.now()); }

  // --- buttons

  void poll_contacts() {
    uint8_t freed = 0;
    const uint32_t before_us = now32();
    {
      typename Board::Guard guard;
      clock_.advance(board_.micros());
      for (uint8_t i = 0; i < CONTACTS; i++)
        if (contacts_[i].poll(now32())) freed |= 1 << i;
    }
    if (now32() - before_us > longest_us_) longest_us_ = now32() - before_us;
    for (uint8_t i = 0; i < PLAYERS; i++)
      if (freed >> i & 1) log("FRE", clock_.now(), 1, i);
  }

  uint8_t next_settled() {
    typename Board::Guard guard;
    const uint8_t i = settled(contacts_);
    if (i != NONE) contacts_[i].fresh = false;
    return i;
  }

  void tell(uint8_t i) {
    const uint64_t at_us = clock_.past(contacts_[i].first_us);  // first_us stands still while the button is down
    if (i == NEXT) {
      log("NXT", at_us, 0, 0);
    } else if (!contacts_[i].held) {
      press(i, at_us);
    }
  }

  void press(uint8_t i, uint64_t at_us) {
    const uint8_t rank = arbiter_.rank(i);
    if (rank == NONE || (rank == 0 && events_.count() >= KEPT_TRIED)) return;
    if (rank == 1) board_.lamp(i, true);
    log("PRS", at_us, 2, i, rank);
  }

  void look_for_stuck() {
    for (uint8_t i = 0; i < PLAYERS; i++) {
      Contact& contact = contacts_[i];
      if (contact.state != Contact::DOWN || contact.stuck || now32() - contact.first_us < STUCK_US) continue;
      contact.stuck = true;
      log("STK", clock_.now(), 1, i);
    }
  }

  void log(const char* kind, uint64_t at_us, uint8_t fields, uint16_t value, uint8_t rank = 0) {
    events_.add(Event{kind, at_us, fields, value, rank});
  }

  // --- lamps and buzzer

  void buzz(bool on, uint32_t for_us = 0) {
    buzzing_ = on;
    buzz_until_us_ = now32() + for_us;
    board_.buzzer(on);
  }

  void lamps_off() {
    for (uint8_t i = 0; i < PLAYERS; i++) board_.lamp(i, false);
  }

  void test_turn() {
    if (!testing_) return;
    const uint32_t step = (now32() - test_since_us_) / TEST_STEP_US;
    for (uint8_t i = 0; i < PLAYERS; i++) board_.lamp(i, step == i);
    testing_ = step < PLAYERS;
  }

  // --- what goes out

  void pump() {
    drain();
    uint32_t number;
    const Event* event = full_ ? nullptr : events_.next(number);
    if (event == nullptr) return;
    out_.begin(event->kind, number);
    out_.add(event->at_us);
    if (event->fields > 0) out_.add(event->value);
    if (event->fields > 1) out_.add(event->rank);
    finish();
    drain();
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
    out_.end();
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
    if (good_ && Parser(line_, length_).parse(command)) {
      obey(command);
    } else {
      refuse(0, "line");
    }
    length_ = 0;
  }

  void obey(const Command& c) {
    if (is(c, "CLK")) return clock_query(c);
    if (is(c, "ACK")) return acknowledge(c);
    if (is(c, "RSN")) return events_.rewind(c.value[0]);
    if (is(c, "HEL")) return hello(c);
    if (is(c, "TST")) return self_test(c);
    if (is(c, "GOO") && c.number != done_ && arbiter_.phase != Phase::ARMED) return refuse(c.number, "not_armed");
    if (is(c, "LMP") && (c.value[0] >= PLAYERS || c.value[1] > 1)) return refuse(c.number, "fields");
    if (c.number != done_) carry_out(c);  // a repetition is answered, not done again
    done_ = c.number;
    reply("ACK", c.number).add(phase_name(arbiter_.phase));
    finish();
  }

  static bool is(const Command& c, const char* kind) { return strcmp(c.kind, kind) == 0; }

  void carry_out(const Command& c) {
    if (is(c, "ARM")) {
      arbiter_.arm();
      lamps_off();
    } else if (is(c, "GOO")) {
      go();
    } else if (is(c, "RUN")) {
      resume();
    } else if (is(c, "DIS")) {
      arbiter_.disarm();
      buzz(false);
    } else if (is(c, "LMP")) {
      board_.lamp(uint8_t(c.value[0]), c.value[1] != 0);
    } else {
      strcpy(name_, c.word);
      board_.keep_name(name_);
    }
  }

  void go() {
    const uint8_t held = begin_duel();
    buzz(true, BUZZ_US);
    log("GOO", clock_.now(), 0, 0);
    tell_held(held);
  }

  // Goes on with a duel that a restart of the box has interrupted: no buzzer, no go.
  void resume() {
    if (!arbiter_.waiting()) return;
    arbiter_.arm();
    tell_held(begin_duel());
  }

  // From here on presses count. A button that is down, or that has just begun to close, is held: its press does not.
  uint8_t begin_duel() {
    typename Board::Guard guard;
    uint8_t held = 0;
    clock_.advance(board_.micros());
    arbiter_.go();
    for (uint8_t i = 0; i < PLAYERS; i++) {
      contacts_[i].held = contacts_[i].engaged();
      if (contacts_[i].held) held |= 1 << i;
    }
    return held;
  }

  void tell_held(uint8_t held) {
    for (uint8_t i = 0; i < PLAYERS; i++)
      if (held >> i & 1) log("HLD", clock_.now(), 1, i);
  }

  void hello(const Command& c) {
    done_ = 0;
    reply("HEL", c.number).add(BOX_VERSION).add(name_).add(boot_).add(PLAYERS);
    out_.add(events_.first()).add(events_.last()).add(events_.overwritten());
    finish();
  }

  void clock_query(const Command& c) {
    reply("CLK", c.number).add(boot_).add(events_.first()).add(events_.last());
    finish();
  }

  // An acknowledgement that was under way while the box restarted speaks of other events.
  void acknowledge(const Command& c) {
    if (c.value[1] == boot_) events_.acknowledge(c.value[0]);
  }

  void self_test(const Command& c) {
    uint8_t closed = 0;
    for (uint8_t i = 0; i < CONTACTS; i++) closed |= uint8_t(contacts_[i].closed) << i;
    if (c.number != done_) {
      testing_ = true;
      test_since_us_ = now32();
      buzz(true, TEST_STEP_US);
    }
    done_ = c.number;
    reply("TST", c.number).add(closed).add(longest_us_);
    longest_us_ = 0;
    finish();
  }

  void refuse(uint32_t number, const char* why) {
    reply("ERR", number).add(why);
    finish();
  }
};
