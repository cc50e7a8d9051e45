// An exporter that ascend-ref conform can speak to: C++17 and its standard library.
//
//   c++ -std=c++17 -o exporter exporter.cpp
//   ascend-ref conform --exporter "jsonl:./exporter ascend-ref export {in} -o {out}/text"
//
// Here each export runs a command; put your own function in place of run_export. The messages are
// described by: ascend-ref spec export exchange/exporter-protocol

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace {

// The value of a member of a flat JSON object, texts without their escapes; empty where absent.
std::string member(const std::string& line, const std::string& name) {
    const std::string key = "\"" + name + "\":";
    std::size_t at = line.find(key);
    if (at == std::string::npos) return "";
    at = line.find_first_not_of(" ", at + key.size());
    if (at == std::string::npos) return "";
    if (line[at] != '"') return line.substr(at, line.find_first_of(",}", at) - at);
    std::string found;
    for (++at; at < line.size() && line[at] != '"'; ++at) {
        if (line[at] == '\\' && at + 1 < line.size()) ++at;  // paths have \" and \\ alone
        found += line[at];
    }
    return found;
}

std::string quoted(const std::string& text) {
    std::string found = "\"";
    for (const char one : text) {
        if (one == '"' || one == '\\') found += '\\';
        found += static_cast<unsigned char>(one) < 0x20 ? ' ' : one;
    }
    return found + '"';
}

std::string replaced(std::string word, const std::string& mark, const std::string& value) {
    const std::size_t at = word.find(mark);
    return at == std::string::npos ? word : word.replace(at, mark.size(), value);
}

// Export one profile; an empty text where that went well, else what is wrong.
std::string run_export(const std::vector<std::string>& command, const std::string& source,
                       const std::string& target) {
    std::vector<std::string> words;
    for (const std::string& word : command)
        words.push_back(replaced(replaced(word, "{in}", source), "{out}", target));
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t child = fork();
    if (child < 0) return "no process could be started";
    if (child == 0) {
        dup2(STDERR_FILENO, STDOUT_FILENO);  // standard output is for answers
        execvp(arguments[0], arguments.data());
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
    if (WEXITSTATUS(status) != 0) return "exit code " + std::to_string(WEXITSTATUS(status));
    return "";
}

void answer(const std::string& seq, const std::string& rest) {
    std::cout << "{\"seq\": " << seq << ", " << rest << "}" << std::endl;
}

}  // namespace

int main(int count, char** values) {
    const std::vector<std::string> command(values + 1, values + count);
    if (command.empty()) {
        std::cerr << "usage: exporter COMMAND...\n";
        return 2;
    }
    std::string line;
    while (std::getline(std::cin, line)) {
        const std::string seq = member(line, "seq");
        const std::string what = member(line, "do");
        if (what == "start") {
            answer(seq, "\"is\": \"result\", \"name\": \"example\", \"version\": \"1\"");
        } else if (what == "export") {
            const std::string wrong = run_export(command, member(line, "in"), member(line, "out"));
            if (wrong.empty())
                answer(seq, "\"is\": \"result\"");
            else
                answer(seq, "\"is\": \"error\", \"message\": " + quoted(wrong));
        } else if (what == "stop") {
            answer(seq, "\"is\": \"result\"");
            break;
        } else {
            answer(seq, "\"is\": \"error\", \"message\": " + quoted("unknown request " + what));
        }
    }
    return 0;
}
