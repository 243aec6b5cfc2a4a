#include "study/distributed/launch.h"

#include "base/plugin.h"
#include "base/text/words.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>

namespace orrery {

namespace {

std::optional<int> countIn(const char* variable) {
    const char* text = std::getenv(variable);
    const auto number = text ? wholeIn(text) : std::nullopt;
    return number && *number >= 0 && *number < 10'000'000 ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

constexpr const char* pluginName = "orrery-mpi.so";

}  // namespace

std::optional<RankLaunch> launch() {
    constexpr std::array<std::pair<const char*, const char*>, 2> known{
        {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}}};
    for (const auto& [rank, size] : known) {
        const auto ranks = countIn(size);
        if (!ranks) continue;
        if (*ranks < 2) return std::nullopt;
        return RankLaunch{countIn(rank).value_or(0), *ranks};
    }
    if (const auto rank = countIn("PMIX_RANK")) return RankLaunch{*rank, 0};
    return std::nullopt;
}

Expected<std::unique_ptr<Transport>> joinRanks() {
    const auto started = launch();
    if (!started) return std::unique_ptr<Transport>();
    const std::string path = pluginPath(pluginName, "ORRERY_MPI");
    // Global, because Open MPI loads parts of its own that look for its symbols. Never unloaded: MPI cannot begin
    // twice.
    void* plugin = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!plugin) {
        const char* why = dlerror();
        return fail("ranks.no-mpi",
                    fmt::format("started on {} ranks, but MPI cannot be loaded: {}",
                                started->ranks > 0 ? std::to_string(started->ranks) : "several", why ? why : path),
                    fmt::format("`{}` beside this program", pluginName),
                    "build where libopenmpi-dev is installed, or start it on one rank");
    }
    const auto make = reinterpret_cast<MakeTransport>(dlsym(plugin, "orrery_transport"));
    if (!make) {
        return fail("ranks.no-mpi", fmt::format("`{}` is no plugin of this program", path),
                    fmt::format("the `{}` that was built with it", pluginName));
    }
    const char* reason = "";
    std::unique_ptr<Transport> transport(make(&reason));
    if (!transport) return fail("ranks.no-mpi", fmt::format("MPI cannot begin: {}", reason));
    if (started->ranks > 0 && transport->ranks() != started->ranks) {
        return fail("ranks.no-mpi",
                    fmt::format("the launcher started {} ranks, MPI knows of {}", started->ranks, transport->ranks()),
                    "the launcher of the MPI that this program was built with", "`ldd orrery-mpi.so` says which");
    }
    if (transport->ranks() < 2) {
        transport->leave(true);
        transport.reset();
    }
    return transport;
}

Expected<double> rankTimeout() {
    const char* text = std::getenv("ORRERY_RANK_TIMEOUT");
    if (!text || !*text) return 30.0;
    const auto seconds = numberIn(text);
    if (!seconds || !(*seconds > 0)) {
        return fail("usage.value", fmt::format("ORRERY_RANK_TIMEOUT is `{}`", text), "seconds, more than 0");
    }
    return *seconds;
}

}  // namespace orrery
