#include "simulation/dram/currents.h"

#include "base/text/read_file.h"
#include "base/text/words.h"
#include "base/text/yaml_node.h"
#include "hardware/files/catalogue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace orrery {

namespace {

namespace fs = std::filesystem;

constexpr double milli = 1e-3, gibi = 1024.0 * 1024.0 * 1024.0;

class CurrentsReader {
public:
    explicit CurrentsReader(const std::string& file) : file_(file) {}

    Expected<DramCurrents> read(const YamlNode& root) {
        DramCurrents out;
        out.id = fs::path(file_).stem().string();
        out.title = words(root, "title", out.id);
        out.family = words(root, "family", {});
        out.basis = words(root, "basis", {});
        out.source = words(root, "source", {});
        out.rate = number(root, "rate", 1, 1e6);
        out.dataPins = static_cast<int>(number(root, "data_pins", 1, 65536));
        out.gigabits = number(root, "gigabits", 1e-3, 1e6);
        const YamlNode* rails = root.find("rails");
        if (!rails || !rails->isSequence() || rails->items.empty() || rails->items.size() > 8)
            refuse(rails ? *rails : root, "rails", "a list of 1 to 8 rails");
        else
            for (const YamlNode& node : rails->items) out.rails.push_back(rail(node));
        if (problem_) return tl::unexpected(*problem_);
        return out;
    }

private:
    void refuse(const YamlNode& at, std::string_view key, std::string expected, std::string hint = {}) {
        if (problem_) return;
        problem_ = fail("dram.currents", fmt::format("`{}` of the currents is missing or wrong", key),
                        std::move(expected), std::move(hint), {file_, at.line, at.column, std::string(key)})
                       .value();
    }
    std::string words(const YamlNode& map, std::string_view key, std::string otherwise) {
        const YamlNode* node = map.find(key);
        if (node && node->isScalar() && !node->scalar.empty()) return node->scalar;
        if (otherwise.empty()) refuse(node ? *node : map, key, "text");
        return otherwise;
    }
    double number(const YamlNode& map, std::string_view key, double least, double most) {
        const YamlNode* node = map.isMap() ? map.find(key) : nullptr;
        const auto value = node && node->isScalar() ? numberIn(trimmed(node->scalar)) : std::nullopt;
        if (value && *value >= least && *value <= most) return *value;
        refuse(node ? *node : map, key, fmt::format("a number from {:g} to {:g}", least, most));
        return least;
    }
    double amperes(const YamlNode& map, std::string_view key) { return milli * number(map, key, 0, 1e5); }

    DramRail rail(const YamlNode& node) {
        DramRail out;
        if (!node.isMap()) return refuse(node, "rails", "maps with name, volts and currents"), out;
        out.name = words(node, "name", {});
        out.volts = number(node, "volts", 0.01, 100);
        out.idd0 = amperes(node, "idd0");
        out.idd2n = amperes(node, "idd2n"), out.idd3n = amperes(node, "idd3n");
        out.idd4r = amperes(node, "idd4r"), out.idd4w = amperes(node, "idd4w");
        out.idd5b = amperes(node, "idd5b");
        if (node.find("idd5pb")) out.idd5pb = amperes(node, "idd5pb");
        if (problem_) return out;
        // What a command adds to standby is what is left when standby is taken off.
        for (const auto& [key, value] : {std::pair{"idd4r", out.idd4r}, {"idd4w", out.idd4w}, {"idd5b", out.idd5b}})
            if (value < out.idd3n)
                refuse(*node.find(key), key, fmt::format("at least idd3n, {:g} mA", out.idd3n / milli),
                       "a burst or a refresh takes more than standby");
        if (out.idd3n < out.idd2n)
            refuse(*node.find("idd3n"), "idd3n", fmt::format("at least idd2n, {:g} mA", out.idd2n / milli),
                   "an open bank takes more than closed ones");
        return out;
    }

    std::string file_;
    std::optional<Diagnostic> problem_;
};

fs::path folder() {
    return fs::path(presetsFolder()) / "memory";
}

}  // namespace

Expected<DramCurrents> readDramCurrents(std::string_view yaml, const std::string& path) {
    const auto root = parseYaml(yaml, path);
    if (!root) return tl::unexpected(root.error());
    const YamlNode* kind = root->isMap() ? root->find("orrery") : nullptr;
    if (!kind || kind->scalar != "dram-currents/1")
        return fail("dram.currents", "this file has no supply currents", "`orrery: dram-currents/1`",
                    "presets/memory/README.md lists the keys", {.file = path, .line = root->line});
    return CurrentsReader(path).read(*root);
}

std::vector<std::string> dramCurrentsIds() {
    std::vector<std::string> ids;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder(), ignored))
        if (entry.path().extension() == ".yaml") ids.push_back(entry.path().stem().string());
    std::ranges::sort(ids);
    return ids;
}

Expected<DramCurrents> loadDramCurrents(const std::string& idOrFile) {
    const bool file = idOrFile.find('/') != std::string::npos || idOrFile.ends_with(".yaml");
    if (!file && std::ranges::count(dramCurrentsIds(), idOrFile) == 0)
        return fail("dram.currents", fmt::format("there are no currents `{}`", idOrFile),
                    fmt::format("{}", fmt::join(dramCurrentsIds(), ", ")), "a file of your own ends in .yaml");
    const std::string path = file ? idOrFile : (folder() / (idOrFile + ".yaml")).string();
    const auto text = readFile(path);
    if (!text) return tl::unexpected(text.error());
    return readDramCurrents(*text, path);
}

std::vector<std::string> unlike(const DramCurrents& currents, const DramDevice& device) {
    std::vector<std::string> out;
    const auto note = [&](bool same, std::string theirs, std::string its) {
        if (!same) out.push_back(fmt::format("the currents are of {}, the memory is of {}", theirs, its));
    };
    note(currents.family == device.family, currents.family, device.family);
    note(std::abs(currents.rate / device.rate - 1) < 0.01, fmt::format("{:.0f} MT/s", currents.rate),
         fmt::format("{:.0f} MT/s", device.rate));
    note(device.dataPins == 0 || currents.dataPins == device.dataPins, fmt::format("{} data pins", currents.dataPins),
         fmt::format("{} data pins", device.dataPins));
    const double gigabits = device.bitsPerPin * (device.dataPins > 0 ? device.dataPins : currents.dataPins) / gibi;
    note(std::abs(gigabits / currents.gigabits - 1) < 1e-6, fmt::format("{:g} Gb", currents.gigabits),
         fmt::format("{:g} Gb", gigabits));
    return out;
}

Expected<DramCurrents> publishedCurrents(const DramDevice& device) {
    std::string known;
    for (const std::string& id : dramCurrentsIds()) {
        auto currents = loadDramCurrents(id);
        if (!currents) return currents;
        known += (known.empty() ? "" : ", ") + id;
        if (unlike(*currents, device).empty()) return currents;
    }
    const std::string pins =
        device.dataPins > 0
            ? fmt::format(" with {} data pins and {:g} Gb", device.dataPins, device.bitsPerPin * device.dataPins / gibi)
            : fmt::format(" with {:g} Gb for each data pin", device.bitsPerPin / gibi);
    return fail("dram.no-currents",
                fmt::format("no supply currents of {}-{:.0f}{} are at hand", device.family, device.rate, pins), known,
                "give a file of its data sheet's currents");
}

}  // namespace orrery
