#include "learning/schedules/ansor_record.h"

#include "base/text/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace orrery {
namespace {

// A split of one loop: its extent, then its parts inside the outermost, outer ones first.
struct AnsorSplit {
    double extent = 1;
    std::vector<double> parts;
};

double numberAt(const JsonNode& step, std::size_t place) {
    return place < step.items.size() && step.items[place].isNumber() ? step.items[place].number : -1;
}

// What `SP` steps say of the stage with most of them.
std::vector<AnsorSplit> mainSplits(const JsonNode& steps) {
    std::map<double, std::vector<AnsorSplit>> stages;
    for (const JsonNode& step : steps.items) {
        if (step.items.size() < 5 || step.items[0].text != "SP" || !step.items[4].isArray()) continue;
        AnsorSplit split{numberAt(step, 3), {}};
        for (const JsonNode& part : step.items[4].items) split.parts.push_back(part.isNumber() ? part.number : -1);
        stages[numberAt(step, 1)].push_back(std::move(split));
    }
    std::vector<AnsorSplit> most;
    for (auto& [stage, splits] : stages)
        if (splits.size() > most.size()) most = std::move(splits);
    return most;
}

// `-1, …` with the two inner parts of a GPU's five as one: blocks, virtual threads, threads, what one thread does.
std::vector<double> partsOf(const AnsorSplit& split) {
    std::vector<double> parts{-1};
    for (std::size_t i = 0; i < split.parts.size(); ++i) {
        if (i < 3)
            parts.push_back(split.parts[i]);
        else
            parts.back() *= split.parts[i];
    }
    return parts;
}

// Numbers of the key: `["conv2d_layer", 1, 7, 7, …]`, a hash or a name first.
std::vector<double> numbersOfKey(std::string_view key) {
    std::vector<double> numbers;
    for (std::string_view word : splitTrimmed(key, ',')) {
        while (!word.empty() && (word.front() == '[' || word.front() == ' ')) word.remove_prefix(1);
        while (!word.empty() && (word.back() == ']' || word.back() == ' ')) word.remove_suffix(1);
        if (const auto number = numberIn(word)) numbers.push_back(*number);
    }
    return numbers;
}

void collect(const JsonNode& node, std::vector<double>& numbers) {
    for (const JsonNode& each : node.items) collect(each, numbers);
    if (node.isNumber()) {
        numbers.push_back(node.number);
    } else if (const auto dollar = node.text.find('$'); dollar != std::string::npos) {
        if (const auto number = numberIn(std::string_view(node.text).substr(dollar + 1))) numbers.push_back(*number);
    }
}

std::vector<TuningStep> stepsOf(const JsonNode& steps) {
    std::vector<TuningStep> all;
    for (const JsonNode& each : steps.items) {
        if (each.items.empty()) continue;
        TuningStep& step = all.emplace_back();
        step.kind = each.items[0].text;
        for (std::size_t i = 1; i < each.items.size(); ++i) {
            const JsonNode& part = each.items[i];
            collect(part, step.all);
            if (part.isNumber()) step.numbers.push_back(part.number);
            if (part.isText()) step.word = part.text;
            if (!part.isArray()) continue;
            for (const JsonNode& one : part.items) step.list.push_back(one.isNumber() ? one.number : -1);
        }
    }
    return all;
}

Unexpected unknownWork(std::size_t spatial, std::size_t reductions) {
    return fail("schedules.workload",
                fmt::format("a program whose largest stage splits {} loops and reduces over {} is none that is known",
                            spatial, reductions),
                "a matrix product or a convolution");
}

}  // namespace

bool isAnsorRecord(const JsonNode& record) {
    return record.find("i") && record.find("r");
}

Expected<TunedRow> readAnsorRecord(const JsonNode& record) {
    const JsonNode *input = record.find("i"), *result = record.find("r");
    const auto wrong = [] {
        return fail("schedules.row", "this is no record of Ansor",
                    "{\"i\": [[key, target, …], [[], steps]], \"r\": [[seconds …], error, …]}");
    };
    const bool whole = input && input->items.size() >= 2 && input->items[0].items.size() >= 2 &&
                       input->items[1].items.size() >= 2 && input->items[1].items[1].isArray() && result &&
                       result->items.size() >= 2 && result->items[0].isArray();
    if (!whole) return wrong();
    const std::string &key = input->items[0].items[0].text, &target = input->items[0].items[1].text;
    if (key.empty() || target.empty()) return wrong();
    TunedRow row;
    row.device = deviceOfTarget(target);
    row.workload = key;
    const bool gpu = target.starts_with("cuda") || target.find("gpu") != std::string::npos;
    // Hardware parameters: cores first, −1 where it is a GPU.
    if (input->items[0].items.size() > 2) row.cores = std::max(0.0, numberAt(input->items[0].items[2], 0));
    const JsonNode& steps = input->items[1].items[1];
    row.steps = stepsOf(steps);
    const std::vector<AnsorSplit> splits = mainSplits(steps);
    std::size_t deepest = 0;
    for (const AnsorSplit& each : splits) deepest = std::max(deepest, each.parts.size());
    std::vector<AnsorSplit> spatial, reduced;
    for (const AnsorSplit& each : splits) {
        if (!(each.extent >= 1 && each.extent <= (1 << 28))) return wrong();
        for (const double part : each.parts)
            if (!(part >= 1 && part <= each.extent)) return wrong();
        (each.parts.size() == deepest ? spatial : reduced).push_back(each);
    }
    TensorWork& work = row.work;
    const auto knob = [&](const char* name, const AnsorSplit& split) {
        row.knobs.push_back({name, partsOf(split), {}});
    };
    const std::size_t loops = spatial.size();
    if ((loops == 2 || loops == 3) && reduced.size() == 1) {
        work.product = true;
        work.batch = loops == 3 ? spatial[0].extent : 1;
        work.rows = work.inputRows = spatial[loops - 2].extent;
        work.outputs = spatial[loops - 1].extent;
        work.inputs = reduced[0].extent;
        knob("tile_y", spatial[loops - 2]);
        knob("tile_x", spatial[loops - 1]);
        knob("tile_k", reduced[0]);
        row.task = loops == 3 ? "ansor_batch_matmul" : "ansor_matmul";
    } else if (loops == 4 && (reduced.size() == 3 || reduced.size() == 2)) {
        const bool deep = reduced.size() == 2;
        const std::size_t last = reduced.size() - 1;
        const bool channelsLast =
            deep || reduced[0].extent == reduced[1].extent || reduced[1].extent != reduced[2].extent;
        const AnsorSplit &h = spatial[channelsLast ? 1 : 2], &w = spatial[channelsLast ? 2 : 3],
                         &out = spatial[channelsLast ? 3 : 1];
        const std::size_t kernel = channelsLast ? 0 : 1;
        work.batch = spatial[0].extent;
        work.rows = h.extent, work.columns = w.extent, work.outputs = out.extent;
        work.kernelRows = reduced[kernel].extent, work.kernelColumns = reduced[kernel + 1].extent;
        work.depthwise = deep;
        work.inputs = deep ? out.extent : reduced[channelsLast ? last : 0].extent;
        work.groups = deep ? out.extent : 1;
        const auto numbers = numbersOfKey(key);
        const bool stated =
            numbers.size() >= 4 && numbers[0] == work.batch && numbers[3] == work.inputs && channelsLast;
        work.inputRows = stated ? numbers[1] : work.rows;
        work.inputColumns = stated ? numbers[2] : work.columns;
        work.stride = std::max(1.0, std::round(work.inputRows / work.rows));
        knob("tile_y", h);
        knob("tile_x", w);
        knob("tile_f", out);
        if (!deep) knob("tile_rc", reduced[channelsLast ? last : 0]);
        row.task = deep ? "depthwise ansor_conv2d" : "ansor_conv2d";
    } else {
        return unknownWork(loops, reduced.size());
    }
    row.task += gpu ? ".cuda" : ".x86";
    for (const JsonNode& step : steps.items) {
        if (step.items.size() < 4 || step.items[0].text != "PR") continue;
        const std::string_view pragma = step.items[3].text;
        const auto dollar = pragma.find('$');
        if (!pragma.starts_with("auto_unroll_max_step") || dollar == pragma.npos) continue;
        if (const auto most = numberIn(pragma.substr(dollar + 1)))
            row.knobs.push_back({"auto_unroll_max_step", {*most}, {}});
    }
    double sum = 0;
    for (const JsonNode& each : result->items[0].items) sum += each.isNumber() ? each.number : 0;
    const bool failed = !result->items[1].isNumber() || result->items[1].number != 0;
    if (!failed && !result->items[0].items.empty())
        row.seconds = sum / static_cast<double>(result->items[0].items.size());
    if (!(row.seconds > 0) || !std::isfinite(row.seconds) || row.seconds >= 1e9) row.seconds = 0;
    return row;
}

}  // namespace orrery
