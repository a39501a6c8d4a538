// The line protocol: "$BXPRS,17,81234567,0,1,BOX1,7,2*31F0". What stands behind the * guards everything between $ and *:
// in protocol 2 the CRC-16 with the polynomial x^16 + x^12 + x^5 + 1 from all ones (CRC-16/IBM-3740), four hexadecimal
// digits; in protocol 1 the XOR of the characters as in NMEA 0183, two digits.
// ../README.md lists every kind; ../vectors.txt is read by the tests of both sides.
#pragma once
#include <stdint.h>
#include <string.h>

const uint8_t LONGEST = 111;   // characters of a sentence without its line end
const uint8_t LINE_MAX = 47;   // of a command
const uint8_t WORD_MAX = 12;
const uint8_t FIELDS_MAX = 2;
const uint8_t PROTOCOL = 2;    // the newest that is spoken here

inline char hex_digit(uint16_t value) { return char(value < 10 ? '0' + value : 'A' + value - 10); }

inline uint16_t crc16(uint16_t crc, char c) {
  crc = uint16_t(crc << 8 | crc >> 8);
  crc = uint16_t(crc ^ uint8_t(c));
  crc = uint16_t(crc ^ (crc & 0xFF) >> 4);
  crc = uint16_t(crc ^ crc << 12);
  return uint16_t(crc ^ (crc & 0xFF) << 5);
}

inline uint16_t checksum(uint8_t protocol, const char* from, const char* to) {
  uint16_t sum = protocol == 1 ? 0 : 0xFFFF;
  for (; from < to; from++) sum = protocol == 1 ? uint16_t(sum ^ uint8_t(*from)) : crc16(sum, *from);
  return sum;
}

inline uint8_t checksum_digits(uint8_t protocol) { return protocol == 1 ? 2 : 4; }

inline bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' || c == '_' || c == '-';
}

// Whether it is 1 to 12 characters of a word and a zero. What an Arduino's EEPROM held before is seldom one.
inline bool is_name(const char* text) {
  uint8_t n = 0;
  while (n < WORD_MAX && is_word(text[n])) n++;
  return n > 0 && text[n] == 0;
}

// Writes one sentence into its own buffer. What does not fit is cut, never written outside.
class Writer {
 public:
  void begin(const char* kind, uint32_t number) {
    length_ = 0;
    text_[length_++] = '$';
    text("BX");
    text(kind);
    add(number);
  }

  Writer& add(uint64_t value) {
    char digits[20];
    uint8_t n = 0;
    for (; value > 0xFFFFFFFF; value /= 10) digits[n++] = char('0' + value % 10);
    uint32_t rest = uint32_t(value);  // divides ten times as fast
    do {
      digits[n++] = char('0' + rest % 10);
      rest /= 10;
    } while (rest != 0);
    put(',');
    while (n > 0) put(digits[--n]);
    return *this;
  }

  Writer& add(const char* text_field) {
    put(',');
    text(text_field);
    return *this;
  }

  void end(uint8_t protocol) {
    const uint16_t sum = checksum(protocol, text_ + 1, text_ + length_);
    text_[length_++] = '*';
    for (uint8_t n = checksum_digits(protocol); n > 0; n--) text_[length_++] = hex_digit(sum >> 4 * (n - 1) & 15);
    text_[length_++] = '\r';
    text_[length_++] = '\n';
  }

  const char* data() const { return text_; }
  uint8_t length() const { return length_; }

 private:
  char text_[LONGEST + 2];
  uint8_t length_ = 0;

  void put(char c) {
    if (length_ < LONGEST - 5) text_[length_++] = c;
  }

  void text(const char* s) {
    while (*s) put(*s++);
  }
};

struct Command {
  uint8_t protocol;              // by its checksum
  char kind[4];                  // without its RF
  uint32_t number;
  uint32_t value[FIELDS_MAX];
  char word[WORD_MAX + 1];
};

struct Kind {
  const char* name;
  const char* types;  // of its fields: b a byte, h 16 bits, l 32 bits, w a word
  const char* old_types;  // in protocol 1; null where there is no such kind
};

// Field types of a command; null for a kind that is none.
inline const char* field_types(const char* name, uint8_t protocol) {
  static const Kind KINDS[] = {
      {"HEL", "b", ""}, {"CLK", "", ""},     {"ARM", "", ""},     {"GOO", "b", ""}, {"RUN", "", ""},  {"DIS", "", ""},
      {"TST", "", ""},  {"LMP", "bb", "bb"}, {"ACK", "lh", "lh"}, {"RSN", "l", "l"}, {"NAM", "w", "w"}, {"CNT", "b", nullptr},
  };
  for (const Kind& kind : KINDS)
    if (strcmp(name, kind.name) == 0) return protocol == 1 ? kind.old_types : kind.types;
  return nullptr;
}

// Reads a command from a line without its line end. False for everything that is not exactly one; reads nothing
// outside [line, line + length).
class Parser {
 public:
  Parser(const char* line, uint8_t length) : at_(line), end_(line + length) {}

  bool parse(Command& command) {
    if (!checked(command) || !kind(command) || !number(command.number, 0xFFFFFFFF)) return false;
    const char* types = field_types(command.kind, command.protocol);
    if (types == nullptr) return false;
    uint8_t values = 0;
    for (; *types; types++)
      if (!(*types == 'w' ? word(command.word) : number(command.value[values++], biggest(*types)))) return false;
    return at_ == end_;
  }

 private:
  const char* at_;
  const char* end_;

  // Checks "$...*HHHH" or "$...*HH" and leaves only the body.
  bool checked(Command& command) {
    if (end_ - at_ < 10 || *at_ != '$') return false;
    command.protocol = end_[-3] == '*' ? 1 : 2;
    const uint8_t digits = checksum_digits(command.protocol);
    const char* star = end_ - digits - 1;
    if (*star != '*') return false;
    const uint16_t sum = checksum(command.protocol, at_ + 1, star);
    for (uint8_t n = 0; n < digits; n++)
      if (end_[-1 - n] != hex_digit(sum >> 4 * n & 15)) return false;
    at_ += 1;
    end_ = star;
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

  bool number(uint32_t& value, uint32_t most) {
    if (!comma() || at_ == end_) return false;
    const bool zero = *at_ == '0';
    uint64_t wide = 0;
    uint8_t digits = 0;
    for (; at_ < end_ && *at_ >= '0' && *at_ <= '9'; at_++, digits++) {
      if (digits == 10) return false;
      wide = wide * 10 + uint8_t(*at_ - '0');
    }
    value = uint32_t(wide);
    return digits > 0 && wide <= most && !(zero && digits > 1);
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
