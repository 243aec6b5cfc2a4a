#include "support/test_list.h"

#include <cstdio>
#include <filesystem>
#include <map>

namespace {

std::map<std::string, orrery::test::TestRun>& list() {
    static std::map<std::string, orrery::test::TestRun> classes;
    return classes;
}

}  // namespace

bool orrery::test::enlist(const char* file, TestRun run) {
    return list().emplace(std::filesystem::path(file).stem().string(), run).second;
}

int main(int argc, char** argv) {
    const auto found = argc > 1 ? list().find(argv[1]) : list().end();
    if (found == list().end()) {
        std::fprintf(stderr, "Usage: %s <test class> [arguments of Qt Test]\nTest classes here:\n", argv[0]);
        for (const auto& [name, run] : list()) std::fprintf(stderr, "  %s\n", name.c_str());
        return 2;
    }
    argv[1] = argv[0];
    return found->second(argc - 1, argv + 1);
}
