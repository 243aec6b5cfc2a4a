#include "store/runs/study_keys.h"

#include "base/hash.h"
#include "base/text/read_file.h"
#include "learning/calibration.h"
#include "methods/provenance.h"
#include "serving/fields/study_hash.h"

#include <fmt/format.h>

#include <filesystem>
#include <unordered_map>

namespace orrery {

namespace {

std::string hashOf(const CalibrationSet& set) {
    Hash hash;
    for (const auto& each : set.all()) hash.add(writeCalibration(*each));
    return hash.hex();
}

// An option may name a file of the user's (a profile, a trace), whose content decides the answer.
void addFiles(Hash& hash, const OptionValues& options) {
    for (const auto& [key, value] : options) {
        std::error_code ignored;
        if (!std::filesystem::is_regular_file(value, ignored)) continue;
        if (const auto text = readFile(value)) hash.add(*text);
    }
}

std::string methodHash(const std::string& text) {
    Hash hash;
    hash.add(text);
    if (const Method* method = findMethod(text)) hash.add(method->card.version);
    if (const auto choice = methodChoice(text, builtinMethods())) addFiles(hash, choice->options);
    return hash.hex();
}

}  // namespace

std::string methodFilesHash(const std::string& method) {
    const auto choice = methodChoice(method, builtinMethods());
    if (!choice) return {};
    Hash hash;
    const std::uint64_t none = hash.value();
    addFiles(hash, choice->options);
    return hash.value() == none ? std::string() : hash.hex();
}

std::string calibrationsHash(const CalibrationSet* set) {
    if (set) return hashOf(*set);
    static const std::string shipped = hashOf(shippedCalibrations().set);
    return shipped;
}

std::string questionText(const Scenario& scenario) {
    std::string text = fmt::format("hardware {}\nworkload {}\nplan {}\ntask {}\n", hardwareHash(*scenario.hardware),
                                   workloadHash(*scenario.workload), toText(scenario.plan), toText(scenario.task));
    if (!scenario.software.empty()) text += "software " + toText(scenario.software) + "\n";
    if (const auto* run = std::get_if<ServingRun>(&scenario.task); run && run->study)
        text += "serving " + servingHash(*run->study) + "\n";
    return text;
}

std::vector<std::string> pairKeys(const Study& study, bool timelines, const CalibrationSet* calibrations) {
    const std::string shared =
        fmt::format("{} {} {} {}", ORRERY_VERSION, study.seed, timelines, calibrationsHash(calibrations));
    std::vector<std::string> methods;
    for (const std::string& method : study.methods) methods.push_back(methodHash(method));
    std::vector<std::string> keys;
    keys.reserve(study.scenarios.size() * methods.size());
    std::unordered_map<std::string, std::size_t> seen;
    for (const Scenario& scenario : study.scenarios) {
        const std::string question = questionText(scenario);
        for (const std::string& method : methods) {
            std::string key = Hash().add(shared).add(question).add(method).hex();
            const std::size_t before = seen[key]++;
            if (before > 0) key += fmt::format("#{}", before + 1);
            keys.push_back(std::move(key));
        }
    }
    return keys;
}

}  // namespace orrery
