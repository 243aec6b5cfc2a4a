#include "app/layout/graphviz.h"
#include "app/layout/protocol.h"

#include <csignal>
#include <cstdio>
#include <string>

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/resource.h>
#endif

namespace {

/// Graphviz must neither outlive the studio nor take the machine's memory.
void confine() {
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    constexpr rlim_t most = rlim_t{4} << 30;
    const rlimit memory{most, most}, none{0, 0};
    setrlimit(RLIMIT_AS, &memory);
    setrlimit(RLIMIT_CORE, &none);
#endif
}

bool readAll(std::string& text) {
    char buffer[1 << 16];
    for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, stdin)) > 0;) {
        text.append(buffer, got);
        if (text.size() > orrery::layout::mostInput) return false;
    }
    return true;
}

}  // namespace

int main() {
    confine();
    std::string text, why = "the request is too long";
    const auto request = readAll(text) ? orrery::layout::parseRequest(text, why) : std::nullopt;
    if (!request) {
        std::fprintf(stderr, "orrery-layout: %s\n", why.c_str());
        return 2;
    }
    const auto answer = orrery::layout::layOut(*request);
    if (!answer) {
        std::fprintf(stderr, "orrery-layout: Graphviz could not lay the graph out\n");
        return 1;
    }
    const std::string out = orrery::layout::writeAnswer(*answer);
    return std::fwrite(out.data(), 1, out.size(), stdout) == out.size() && std::fflush(stdout) == 0 ? 0 : 1;
}
