// The line protocol: "$BXPRS,17,81234567,0,1*3A". The XOR of everything between $ and * stands behind it in
// hexadecimal, as in NMEA 0183. ../README.md lists every kind; ../vectors.txt is read by the tests of both sides.
#pragma once
#include <stdint.h>
#include <string.h>

const uint8_t LONGEST = 95;    // characters of a sentence without its line end
const uint8_t LINE_MAX = 47;   // of a command
const uint8_t WORD_MAX = 12;
const uint8_t FIELDS_MAX = 2;

inline char hex_digit(uint8_t value) { return char(value < 10 ? '0' + value : 'A' + value - 10); }

// Writes one sentence into its own buffer. What does not fit is cut, never written outside.
class Writer {
 public:
  void begin(const char* kind, uint32_t number) {
    length_ = sum_ = 0;
    text_[length_++] = '$';
    text("BX");
    text(kind);
    add(number);
  }

  Writer& add(uint64_t value) {
    char digits[20];
    uint8_t n = 0;
    do {
      digits[n++] = char('0' + value % 10);
      value /= 10;
    } while (value != 0);
    put(',');
    while (n > 0) put(digits[--n]);
    return *this;
  }

  Writer& add(const char* word) {
    put(',');
    text(word);
    return *this;
  }

  void end() {
    const uint8_t sum = sum_;
    text_[length_++] = '*';
    text_[length_++] = hex_digit(sum >> 4);
    text_[length_++] = hex_digit(sum & 15);
    text_[length_++] = '\r';
    text_[length_++] = '\n';
  }

  const char* data() const { return text_; }
  uint8_t length() const { return length_; }

 private:
  char text_[LONGEST + 2];
  uint8_t length_ = 0;
  uint8_t sum_ = 0;

  void put(char c) {
    if (length_ >= LONGEST - 3) return;
    text_[length_++] = c;
    sum_ ^= uint8_t(c);
  }

  void text(const char* s) {
    while (*s) put(*s++);
  }
};

struct Command {
  char kind[4];                  // without its RF
  uint32_t number;
  uint32_t value[FIELDS_MAX];
  char word[WORD_MAX + 1];
};

// Field types of a command: b a byte, h 16 bits, l 32 bits, w a word; null for a kind that is none.
inline const char* field_types(const char* kind) {
  static const char* const KINDS[] = {"HEL", "", "CLK", "", "ARM", "", "GOO", "", "RUN", "", "DIS", "", "TST", "",
                                      "LMP", "bb", "ACK", "lh", "RSN", "l", "NAM", "w"};
  for (uint8_t i = 0; i < sizeof KINDS / sizeof *KINDS; i += 2)
    if (strcmp(kind, KINDS[i]) == 0) return KINDS[i + 1];
  return nullptr;
}

// Reads a command from a line without its line end. False for everything that is not exactly one; reads nothing
// outside [line, line + length).
class Parser {
 public:
  Parser(const char* line, uint8_t length) : at_(line), end_(line + length) {}

  bool parse(Command& command) {
    if (!checked() || !kind(command) || !number(command.number, 0xFFFFFFFF)) return false;
    const char* types = field_types(command.kind);
    if (types == nullptr) return false;
    uint8_t values = 0;
    for (; *types; types++)
      if (!(*types == 'w' ? word(command.word) : number(command.value[values++], biggest(*types)))) return false;
    return at_ == end_;
  }

 private:
  const char* at_;
  const char* end_;

  // Checks "$...*HH" and leaves only the body.
  bool checked() {
    if (end_ - at_ < 10 || *at_ != '$' || end_[-3] != '*') return false;
    uint8_t sum = 0;
    for (const char* p = at_ + 1; p < end_ - 3; p++) sum ^= uint8_t(*p);
    if (end_[-2] != hex_digit(sum >> 4) || end_[-1] != hex_digit(sum & 15)) return false;
    at_ += 1;
    end_ -= 3;
    return true;
  }

  bool kind(Command& command) {
    if (end_ - at_ < 5 || at_[0] != 'R' || at_[1] != 'F') return false;
    memcpy(command.kind, at_ + 2, 3);
    command.kind[3] = 0;
    at_ += 5;
    return true;
  }

  static uint32_t biggest(char type) { return type == 'b' ? 0xFF : type == 'h' ? 0xFFFF : 0xFFFFFFFF; }

  bool comma() { return at_ < end_ && *at_++ == ','; }

  bool number(uint32_t& value, uint32_t biggest) {
    if (!comma() || at_ == end_) return false;
    const bool zero = *at_ == '0';
    uint64_t wide = 0;
    uint8_t digits = 0;
    for (; at_ < end_ && *at_ >= '0' && *at_ <= '9'; at_++, digits++) {
      if (digits == 10) return false;
      wide = wide * 10 + uint8_t(*at_ - '0');
    }
    value = uint32_t(wide);
    return digits > 0 && wide <= biggest && !(zero && digits > 1);
  }

  static bool is_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' || c == '_' || c == '-';
  }

  bool word(char* out) {
    if (!comma()) return false;
    uint8_t n = 0;
    for (; at_ < end_ && is_word(*at_); at_++) {
      if (n == WORD_MAX) return false;
      out[n++] = *at_;
    }
    out[n] = 0;
    return n > 0;
  }
};
