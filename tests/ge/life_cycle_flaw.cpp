// The functions of ge/ge_prof.h as documents describe them, with one flaw of upstream: the flag of a start is cleared
// by a successful stop alone, so that after start, finalize and init a start is a success that collects nothing.
// Speaks exchange/life-cycle-protocol; JSON is read as far as that needs.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

using Bits = std::uint64_t;

struct Config {
    std::vector<std::uint64_t> devices;
    std::uint64_t metrics = 0;
    Bits types = 0;
};

const std::uint64_t FAILED = 405091711;
const Bits SUPPORTED = 0x4000000C0100FBFF;

std::string mode = "OFF";
std::uint64_t devices = 0;
std::set<std::uint64_t> known_metrics;
std::map<std::uint64_t, Config> configs;
std::map<std::uint64_t, Bits> collecting;
bool started = false;

std::string text_of(const std::string &line, const std::string &key)
{
    auto at = line.find("\"" + key + "\": ");
    return at == std::string::npos ? "" : line.substr(at + key.size() + 4);
}

std::uint64_t number_of(const std::string &line, const std::string &key)
{
    return std::strtoull(text_of(line, key).c_str(), nullptr, 10);
}

std::vector<std::uint64_t> list_of(const std::string &line, const std::string &key)
{
    std::vector<std::uint64_t> found;
    std::string text = text_of(line, key);
    const char *at = text.c_str() + 1;
    while (*at != ']' && *at != '\0') {
        char *end = nullptr;
        found.push_back(std::strtoull(at, &end, 10));
        at = end;
        while (*at == ',' || *at == ' ') {
            ++at;
        }
    }
    return found;
}

// The path with its escapes resolved into the bytes of UTF-8; only such code points are sent as have one or two.
std::string path_of(const std::string &line)
{
    std::string text = text_of(line, "profiler_path"), found;
    for (std::size_t at = 1; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] != '\\') {
            found += text[at];
            continue;
        }
        const char escape = text[++at];
        const char *from = "nfrbt", *to = "\n\f\r\b\t";
        const char *place = std::strchr(from, escape);
        if (escape == 'u') {
            const unsigned long code = std::strtoul(text.substr(at + 1, 4).c_str(), nullptr, 16);
            at += 4;
            if (code < 0x80) {
                found += static_cast<char>(code);
            } else {
                found += static_cast<char>(0xC0 | (code >> 6));
                found += static_cast<char>(0x80 | (code & 0x3F));
            }
        } else {
            found += place ? to[place - from] : escape;
        }
    }
    return found;
}

std::uint64_t init(const std::string &line)
{
    const std::string path = path_of(line);
    const std::uint64_t length = number_of(line, "length");
    const bool is_null = text_of(line, "profiler_path").compare(0, 4, "null") == 0;
    if (is_null || length < 1 || length > 4095 || path.size() != length || mode != "OFF") {
        return FAILED;
    }
    if (path.find_first_of("\n\f\r\b\t\v\x7f\"'\\%><|&$;`") != std::string::npos) {
        return FAILED;
    }
    mode = "API_CTRL";
    return 0;
}

bool create(const std::string &line)
{
    Config config;
    if (text_of(line, "deviceid_list").compare(0, 4, "null") == 0) {
        return false;
    }
    config.devices = list_of(line, "deviceid_list");
    const std::uint64_t count = number_of(line, "device_nums");
    if (count < 1 || count > 64 || count > devices) {
        return false;
    }
    std::set<std::uint64_t> seen;
    for (auto device : config.devices) {
        if (device >= devices || !seen.insert(device).second) {
            return false;
        }
    }
    config.metrics = number_of(line, "aicore_metrics");
    const Bits given = std::strtoull(text_of(line, "data_type_config").c_str() + 1, nullptr, 16);
    config.types = given | (Bits{1} << 62);
    config.types |= given & 0x2 ? 0x800 : 0;
    config.types |= given & (0x2000 | 0x4000) ? 0x802 : 0;
    config.types |= given & 0x8000 ? 0x2802 : 0;
    configs[number_of(line, "config")] = config;
    return true;
}

bool is_refused(const Config &config)
{
    return (config.types & ~SUPPORTED) != 0 || mode != "API_CTRL";
}

bool differs(const Config &config)
{
    for (const auto &one : collecting) {
        if (one.second != config.types) {
            return true;
        }
    }
    return false;
}

std::uint64_t start(const Config &config)
{
    if (is_refused(config) || differs(config)) {
        return FAILED;
    }
    if (started && collecting.empty()) {
        return 0;
    }
    bool is_new = false;
    for (auto device : config.devices) {
        is_new = is_new || collecting.count(device) == 0;
    }
    if (is_new && (config.types & 0x4) && known_metrics.count(config.metrics) == 0) {
        return FAILED;
    }
    started = true;
    for (auto device : config.devices) {
        collecting[device] = config.types;
    }
    return 0;
}

std::uint64_t stop(const Config &config)
{
    if (is_refused(config) || differs(config)) {
        return FAILED;
    }
    collecting.clear();
    started = false;
    return 0;
}

std::uint64_t finalize()
{
    if (mode != "API_CTRL") {
        return mode == "OFF" ? 100043 : mode == "CMD" ? 100042 : 148047;
    }
    collecting.clear();
    mode = "OFF";
    return 0;
}

int main()
{
    std::string line;
    while (std::getline(std::cin, line)) {
        const std::string call = text_of(line, "call");
        const std::string name = call.substr(1, call.find('"', 1) - 1);
        std::string returns;
        if (name == "start") {
            const std::string asked = text_of(line, "mode");
            mode = asked.substr(1, asked.find('"', 1) - 1);
            devices = number_of(line, "devices");
            for (auto one : list_of(line, "metrics")) {
                known_metrics.insert(one);
            }
            returns = "0";
        } else if (name == "aclgrphProfInit") {
            returns = std::to_string(init(line));
        } else if (name == "aclgrphProfCreateConfig") {
            returns = create(line) ? "\"config\"" : "null";
        } else if (name == "aclgrphProfStart") {
            returns = std::to_string(start(configs[number_of(line, "profiler_config")]));
        } else if (name == "aclgrphProfStop") {
            returns = std::to_string(stop(configs[number_of(line, "profiler_config")]));
        } else if (name == "aclgrphProfFinalize") {
            returns = std::to_string(finalize());
        } else {
            const bool is_null = text_of(line, "profiler_config").compare(0, 4, "null") == 0;
            configs.erase(number_of(line, "profiler_config"));
            returns = std::to_string(is_null ? FAILED : 0);
        }
        std::cout << "{\"returns\": " << returns << ", \"collecting\": {";
        bool is_first = true;
        for (const auto &one : collecting) {
            std::cout << (is_first ? "" : ", ") << '"' << one.first << "\": \"0x" << std::hex << one.second << std::dec
                      << '"';
            is_first = false;
        }
        std::cout << "}}" << std::endl;
    }
    return 0;
}
