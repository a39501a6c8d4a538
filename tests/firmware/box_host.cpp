// The firmware's headers in a program for the PC: timelines in, sentences out. Commands on standard input:
//   new US CLOSED     a fresh box, started at that time      turn US          one turn of the loop
//                     with these contacts down, as bits
//   edge US I C       button I changes, closed or not        hear US HEX      bytes from the host
//   pad US I C        pad I is closed or not                 shown US         lamps as bits, hertz of the tone
//   write P KIND N .. the sentence the Writer makes of it    parse HEX        "good" or "bad"
//   crc HEX           the CRC-16 of these bytes
//   fuzz SEED COUNT   random and mutated bytes, random edges end              "--", flushed
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <random>
#include <sstream>
#include <string>

#include "box.h"

struct Desk {  // a Board whose clock is set by the timeline
  struct Guard { ~Guard() {} };
  uint64_t now_us = 0;
  std::string out;
  uint32_t micros() { return uint32_t(now_us); }
  void lamp(uint8_t i, bool on) { lamps[i] = on; }
  void tone(uint16_t now_hz) { hz = now_hz; }
  bool pad(uint8_t i) { return pads[i]; }
  bool room() { return space-- > 0 || !narrow; }
  void write(char c) { out += c; }
  void keep_name(const char* name) { kept = name; }
  bool lamps[LAMPS] = {}, pads[PADS] = {}, narrow = false;
  unsigned hz = 0;
  int space = 0;
  std::string kept;
};

struct Rig {
  Desk desk;
  Box<Desk> box{desk};
};

static std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) bytes += char(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

static void hear(Rig& rig, const std::string& bytes) {
  for (char c : bytes) {
    while (!rig.box.ready()) rig.box.poll();
    rig.box.take(c);
  }
}

static void print(Rig& rig) {
  std::cout << rig.desk.out;
  rig.desk.out.clear();
}

static void write_sentence(std::istringstream& words) {
  std::string kind, word;
  uint64_t number;
  unsigned protocol;
  words >> protocol >> kind >> number;
  Writer writer;
  writer.begin(kind.c_str() + 2, uint32_t(number));
  while (words >> word) {
    if (word.find_first_not_of("0123456789") == std::string::npos) {
      writer.add(uint64_t(std::stoull(word)));
    } else {
      writer.add(word.c_str());
    }
  }
  writer.end(uint8_t(protocol));
  std::cout << std::string(writer.data(), writer.length());
}

static void parse(const std::string& line) {
  // exactly as long as the line, so that the address sanitizer sees a single byte too far
  std::unique_ptr<char[]> exact(new char[line.size()]);
  memcpy(exact.get(), line.data(), line.size());
  Command command;
  std::cout << (line.size() < 256 && Parser(exact.get(), uint8_t(line.size())).parse(command) ? "good\n" : "bad\n");
}

static void crc(const std::string& bytes) {
  std::printf("%04X\n", unsigned(checksum(2, bytes.data(), bytes.data() + bytes.size())));
  std::fflush(stdout);
}

static void shown(Rig& rig) {
  for (uint8_t i = 0; i < LAMPS; i++) std::cout << rig.desk.lamps[i];
  std::cout << ' ' << rig.desk.hz << '\n';
}

// "@" becomes the CRC-16.
static std::string with_crc(std::string line) {
  const size_t at = line.find('@');
  if (at == std::string::npos) return line;
  char digits[5];
  std::snprintf(digits, sizeof digits, "%04X", unsigned(checksum(2, line.data() + 1, line.data() + at - 1)));
  return line.replace(at, 1, digits);
}

static std::string some_bytes(std::mt19937& rng) {
  static const char* const SEEDS[] = {
      "$RFHEL,1*48\r\n",
      "$RFLMP,7,2,1*5D\r\n",
      "$RFACK,3,4294967295,1*7E\r\n",
      "$RFNAM,9,box-2*05\r\n",
      "$RFTST,4*5F\r\n",
      "$RFRSN,5,0*5E\r\n",
      "$RFARM,2*54\r\n",
      "$RFGOO,3*4C\r\n",
      "$RFHEL,1,2*@\r\n",
      "$RFGOO,4,1*@\r\n",
      "$RFCNT,5,3*@\r\n",
      "$RFLMP,6,1,3*@\r\n",
  };
  std::string bytes = rng() % 3 ? with_crc(SEEDS[rng() % 12]) : std::string(rng() % 120, '$');
  for (size_t n = rng() % 6; n > 0 && !bytes.empty(); n--) bytes[rng() % bytes.size()] = char(rng());
  return bytes;
}

// Everything at once on one box: nothing may crash, and nothing may come out that is not a line.
static void fuzz(unsigned seed, unsigned long count) {
  std::mt19937 rng(seed);
  Rig rig;
  rig.desk.narrow = true;
  rig.box.start("BOX1", 1, 0, 1);
  size_t lines = 0;
  while (count-- > 0) {
    rig.desk.now_us += rng() % (rng() % 50 ? 3000 : 40000000);
    rig.desk.space = int(rng() % 64);
    if (rng() % 4 == 0) rig.box.edge(uint8_t(rng() % CONTACTS), rng() % 2, rig.desk.micros());
    if (rng() % 9 == 0) rig.desk.pads[rng() % PADS] = rng() % 2;
    const std::string bytes = some_bytes(rng);
    for (char c : bytes)
      if (rig.box.ready()) rig.box.take(c);
    rig.box.poll();
    for (char c : rig.desk.out) lines += c == '\n';
    rig.desk.out.clear();
  }
  std::cout << lines << " sentences\n";
}

static void obey(std::unique_ptr<Rig>& rig, const std::string& line) {
  std::istringstream words(line);
  std::string what, hex;
  uint64_t us = 0;
  unsigned button = 0, closed = 0;
  words >> what;
  if (what == "write") return write_sentence(words);
  if (what == "parse") return words >> hex, parse(from_hex(hex));
  if (what == "crc") return words >> hex, crc(from_hex(hex));
  words >> us;
  if (what == "fuzz") return words >> button, fuzz(unsigned(us), button);
  if (what == "new") rig.reset(new Rig);
  if (what != "end") rig->desk.now_us = us;
  if (what == "new" && (words >> closed, true)) rig->box.start("BOX1", 1, uint8_t(closed), 1);
  if (what == "pad" && words >> button >> closed) rig->desk.pads[button] = closed;
  if (what == "turn") rig->box.poll();
  if (what == "edge" && words >> button >> closed) rig->box.edge(uint8_t(button), closed, rig->desk.micros());
  if (what == "hear" && words >> hex) hear(*rig, from_hex(hex));
  if (rig) print(*rig);
  if (what == "shown") shown(*rig);
  if (what == "end") std::cout << "--" << std::endl;
}

int main() {
  std::unique_ptr<Rig> rig;
  for (std::string line; std::getline(std::cin, line);) obey(rig, line);
  return 0;
}
