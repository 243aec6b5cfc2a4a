#include "workload/traces/operator_recording.h"

#include "base/text/tar_members.h"
#include "base/text/words.h"
#include "workload/traces/chakra.h"
#include "workload/traces/operator_table.h"
#include "workload/traces/read_trace.h"
#include "workload/traces/recorded_json.h"
#include "workload/traces/table_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace orrery {

namespace {

constexpr double most_extent = 9e15;
using TensorTable = std::unordered_map<std::int64_t, RecordedTensor>;

std::optional<RecordedStage> recordedStage(std::string_view text) {
    for (const auto stage : {RecordedStage::Forward, RecordedStage::Backward, RecordedStage::Optimizer})
        if (toText(stage) == text) return stage;
    return std::nullopt;
}

std::string besideOf(const std::string& path) {
    constexpr std::string_view trace = "_trace_", tensor = "_tensor_";
    const auto name = path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1;
    const auto at = path.find(trace, name);
    if (at == std::string::npos) return {};
    return std::string(path).replace(at, trace.size(), tensor);
}

/// The numbers of `[a; b; …]` or `[a, b]`.
Expected<std::vector<std::int64_t>> numbersOf(const TableColumns& table, std::string_view column, char separator) {
    const auto text = table.cell(column);
    if (!text) return Unexpected(text.error());
    std::string_view list = *text;
    std::vector<std::int64_t> numbers;
    if (!list.starts_with('[') || !list.ends_with(']'))
        return table.refuse("trace.value", fmt::format("`{}` of {} is no list", list.substr(0, 40), column),
                            "[a; b; …]");
    list = trimmed(list.substr(1, list.size() - 2));
    if (list.empty()) return numbers;
    for (const std::string_view one : splitTrimmed(list, separator)) {
        const auto value = numberIn(one);
        if (!value || *value < 0 || *value > most_extent)
            return table.refuse("trace.value", fmt::format("`{}` of {} makes no sense", one, column),
                                "numbers from 0 on");
        numbers.push_back(static_cast<std::int64_t>(*value));
    }
    return numbers;
}

Expected<TensorTable> readTensors(const std::string& path) {
    const auto text = readTraceFile(path);
    if (!text) return Unexpected(text.error());
    TableColumns table(*text, path);
    TensorTable tensors;
    for (;;) {
        const auto more = table.next();
        if (!more) return Unexpected(more.error());
        if (!*more) return tensors;
        const auto id = table.number("TensorID"), width = table.number("TensorEachByte");
        if (!id) return Unexpected(id.error());
        if (!width) return Unexpected(width.error());
        auto shape = numbersOf(table, "TensorShape", ',');
        if (!shape) return Unexpected(shape.error());
        tensors.try_emplace(static_cast<std::int64_t>(*id), RecordedTensor{std::move(*shape), *width});
    }
}

Expected<std::vector<RecordedTensor>> tensorsOf(const TableColumns& table, std::string_view column,
                                                const TensorTable& tensors, const std::string& beside) {
    const auto ids = numbersOf(table, column, ';');
    if (!ids) return Unexpected(ids.error());
    std::vector<RecordedTensor> found;
    for (const std::int64_t id : *ids) {
        const auto at = tensors.find(id);
        if (at == tensors.end())
            return table.refuse("recording.tensors", fmt::format("there is no tensor {} in {}", id, beside),
                                "every tensor of the operators", "give the table of the same run: tensors=FILE");
        found.push_back(at->second);
    }
    return found;
}

Expected<OperatorRecording> tables(std::string_view text, const std::string& path, std::string beside) {
    if (beside.empty()) beside = besideOf(path);
    if (beside.empty())
        return fail("recording.tensors", fmt::format("{} says nothing of shapes", path),
                    "a table of tensors beside it, `…_tensor_….csv` for `…_trace_….csv`", "give it: tensors=FILE",
                    {path, 1, 0, {}});
    const auto tensors = readTensors(beside);
    if (!tensors) return Unexpected(tensors.error());
    TableColumns table(text, path);
    OperatorRecording recording;
    recording.file = path;
    recording.form = "TrioSim tables";
    for (;;) {
        const auto more = table.next();
        if (!more) return Unexpected(more.error());
        if (!*more) break;
        RecordedOperator made;
        const auto name = table.cell("OperatorName"), stage = table.cell("stage");
        const auto time = table.number("Operator_cudatime");
        if (!name) return Unexpected(name.error());
        if (!stage) return Unexpected(stage.error());
        if (!time) return Unexpected(time.error());
        const auto known = recordedStage(*stage);
        if (!known)
            return table.refuse("trace.value", fmt::format("there is no stage `{}`", *stage),
                                "forward, backward or optimizer");
        made.name = std::string(plainOperatorName(*name));
        made.stage = *known;
        made.microseconds = *time;
        if (table.has("Operator_cudatimenooverlap")) {
            const auto busy = table.number("Operator_cudatimenooverlap");
            if (!busy) return Unexpected(busy.error());
            made.idle = std::max(0.0, *time - *busy);
        }
        made.line = table.line();
        auto inputs = tensorsOf(table, "Operator_input", *tensors, beside);
        if (!inputs) return Unexpected(inputs.error());
        auto outputs = tensorsOf(table, "Operator_output", *tensors, beside);
        if (!outputs) return Unexpected(outputs.error());
        made.inputs = std::move(*inputs);
        made.outputs = std::move(*outputs);
        recording.operators.push_back(std::move(made));
    }
    if (recording.operators.empty())
        return fail("trace.empty", "the table holds no operator", {}, {}, {path, 0, 0, {}});
    return recording;
}

}  // namespace

std::string_view toText(RecordedStage stage) {
    constexpr std::string_view names[] = {"forward", "backward", "optimizer"};
    return names[static_cast<std::size_t>(stage)];
}

double RecordedTensor::elements() const {
    double product = 1;
    for (const std::int64_t extent : shape) product *= static_cast<double>(extent);
    return product;
}

double OperatorRecording::microseconds(RecordedStage stage) const {
    double sum = 0;
    for (const RecordedOperator& each : operators)
        if (each.stage == stage) sum += each.microseconds;
    return sum;
}

std::string_view plainOperatorName(std::string_view name) {
    constexpr std::string_view engine = "autograd::engine::evaluate_function: ";
    return name.starts_with(engine) ? name.substr(engine.size()) : name;
}

Expected<OperatorRecording> readOperatorRecording(const std::string& path, const std::string& beside) {
    const auto whole = readTraceFile(path);
    if (!whole) return Unexpected(whole.error());
    std::string_view text = *whole;
    if (isTar(text)) {
        const auto members = tarMembers(text, path);
        if (!members) return Unexpected(members.error());
        text = {};
        for (const TarMember& each : *members)
            if (each.text.size() > text.size()) text = each.text;
    }
    if (isOperatorTable(text)) return tables(text, path, beside);
    if (recordedForm(text) == RecordedForm::PyTorch) return torchRecording(text, path, beside);
    if (!text.empty() && !looksLikeText(text)) return chakraRecording(text, path);
    return fail("recording.form", fmt::format("{} is no recording of operators with their shapes", path),
                "TrioSim's table of operators, a PyTorch execution trace with its timeline, or the Chakra .et made of "
                "both",
                "traces of other forms run as they are: orrery-cli train --trace", {path, 1, 0, {}});
}

}  // namespace orrery
