#include "workload/traces/recorded_json.h"

#include "base/text/json_cursor.h"
#include "base/text/words.h"
#include "workload/traces/torch_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace orrery {

namespace {

using Kind = JsonCursor::Kind;

constexpr double most_bytes = 9e15;

/// In the order in which they are looked for: names of others begin alike.
constexpr std::pair<std::string_view, TraceCollective> recorded_names[] = {
    {"reducescatter", TraceCollective::ReduceScatter},
    {"allreduce", TraceCollective::AllReduce},
    {"allgather", TraceCollective::AllGather},
    {"alltoall", TraceCollective::AllToAll},
    {"broadcast", TraceCollective::Broadcast},
    {"barrier", TraceCollective::Barrier},
    {"scatter", TraceCollective::Scatter},
    {"gather", TraceCollective::Gather},
    {"reduce", TraceCollective::Reduce}};

std::optional<TraceCollective> recordedCollective(std::string_view name) {
    std::string plain;
    for (const char c : lower(name.substr(0, std::min<std::size_t>(name.size(), 200))))
        if (c != '_') plain += c;
    for (const auto& [word, op] : recorded_names)
        if (plain.find(word) != std::string::npos) return op;
    return std::nullopt;
}

/// Values of a node's inputs: bytes of all tensors, and the words that the first level holds.
struct RecordedValues {
    double bytes = 0;
    std::vector<std::string> texts;  ///< of the first level: texts, and the first text or number of its lists
};

std::string shownNumber(double value) {
    return fmt::format("{}", value);
}

// A tensor: id, storage, offset, elements, bytes of one, device.
void readValue(JsonCursor& json, RecordedValues& out, int depth) {
    switch (json.kind()) {
        case Kind::Array: {
            std::vector<double> numbers;
            std::size_t count = 0;
            std::string first;
            bool device = false;
            for (json.array(); json.element(); ++count) {
                const Kind kind = json.kind();
                if (kind == Kind::Number) {
                    numbers.push_back(json.number());
                    if (count == 0) first = shownNumber(numbers.front());
                } else if (kind == Kind::Text) {
                    const std::string_view text = json.text();
                    device = count == 5;
                    if (count == 0) first = std::string(text);
                } else {
                    readValue(json, out, depth + 1);
                }
            }
            if (count == 6 && numbers.size() == 5 && device) {
                if (numbers[3] >= 0 && numbers[4] >= 0) out.bytes += numbers[3] * numbers[4];
            }
            if (depth == 1) out.texts.push_back(std::move(first));
            break;
        }
        case Kind::Object:
            json.skip();
            break;
        case Kind::Text: {
            const std::string_view text = json.text();
            if (depth == 1) out.texts.emplace_back(text);
            break;
        }
        case Kind::Number: {
            const double number = json.number();
            if (depth == 1) out.texts.push_back(shownNumber(number));
            break;
        }
        default:
            json.skip();
            if (depth == 1) out.texts.emplace_back();
    }
}

RecordedValues readInputs(JsonCursor& json) {
    RecordedValues values;
    if (json.kind() == Kind::Array) {  // earlier schemas: the values themselves
        for (json.array(); json.element();) readValue(json, values, 1);
        return values;
    }
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key != "values" || json.kind() != Kind::Array) {
            json.skip();
            continue;
        }
        for (json.array(); json.element();) readValue(json, values, 1);
    }
    return values;
}

std::uint64_t recordedId(JsonCursor& json) {
    const std::int64_t value = json.integer();
    if (value >= 0) return static_cast<std::uint64_t>(value);
    json.fail("value", fmt::format("the id {} is below zero", value), "ids from 0 on");
    return 0;
}

void readIds(JsonCursor& json, std::vector<std::uint64_t>& ids) {
    if (json.kind() == Kind::Array) {
        for (json.array(); json.element();) ids.push_back(recordedId(json));
    } else if (!json.null()) {
        ids.push_back(recordedId(json));
    }
}

struct RecordedNode {
    TraceNode node;
    std::string name;
    std::vector<std::uint64_t> waits;
    RecordedValues inputs;
    std::int64_t recordFunction = -1;
};

RecordedNode readOperator(JsonCursor& json) {
    RecordedNode read;
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "id") {
            read.node.id = recordedId(json);
        } else if (key == "name") {
            read.name = json.text();
        } else if (key == "ctrl_deps" || key == "parent" || key == "data_deps") {
            readIds(json, read.waits);
        } else if (key == "inputs") {
            read.inputs = readInputs(json);
        } else if (key == "attrs" && json.kind() == Kind::Array) {
            read.recordFunction = readRecordFunction(json);
        } else if (key == "rf_id" && json.kind() == Kind::Number) {
            read.recordFunction = static_cast<std::int64_t>(std::clamp(json.number(), -1.0, most_bytes));
        } else {
            json.skip();
        }
    }
    return read;
}

/// `[{"pg_name": "0", "ranks": [0, 1], …}, …]`, a text in the text.
void readProcessGroups(std::string_view text, std::string_view file,
                       std::map<std::string, std::vector<std::int32_t>>& groups, std::int64_t& largest) {
    JsonCursor json(text, file, "trace");
    if (json.kind() != Kind::Array) return;
    for (json.array(); json.element();) {
        if (json.kind() != Kind::Object) {
            json.skip();
            continue;
        }
        std::vector<std::string> names;
        std::vector<std::int32_t> ranks;
        std::string_view key;
        for (json.object(); json.key(key);) {
            if ((key == "pg_name" || key == "backend_id") && json.kind() == Kind::Text) {
                names.emplace_back(json.text());
            } else if ((key == "pg_name" || key == "backend_id") && json.kind() == Kind::Number) {
                names.push_back(shownNumber(json.number()));
            } else if (key == "group_size" && json.kind() == Kind::Number) {
                const std::int64_t size = json.integer();
                if (size > 0 && size < 1 << 24) largest = std::max(largest, size);
            } else if (key == "ranks" && json.kind() == Kind::Array) {
                for (json.array(); json.element();) {
                    const std::int64_t rank = json.integer();
                    if (rank >= 0 && rank < 1 << 24) ranks.push_back(static_cast<std::int32_t>(rank));
                }
            } else {
                json.skip();
            }
        }
        // Without ranks it is everyone's.
        for (const std::string& name : names) groups[name] = ranks;
    }
}

class PyTorchTrace {
public:
    PyTorchTrace(std::string_view file) : file_(file) {}

    void add(RecordedNode read, TraceBuilder& builder) {
        std::erase(read.waits, read.node.id);  // the process is its own caller
        if (read.name.starts_with("## process_group:init")) {
            for (const std::string& text : read.inputs.texts) readProcessGroups(text, file_, groups_, ranks_);
        } else if (read.name == "record_param_comms") {
            groupOfCall_[read.node.id] = read.inputs.texts.size() > 2 ? read.inputs.texts[2] : std::string();
        }
        read.node.work = TraceWork::Compute;
        read.node.onHost = true;
        if (const auto op = read.name.starts_with("nccl:") ? recordedCollective(read.name) : std::nullopt) {
            read.node.work = TraceWork::Collective;
            read.node.onHost = false;
            read.node.collective = *op;
            read.node.bytes = static_cast<std::int64_t>(std::min(read.inputs.bytes, most_bytes));
            calls_.emplace_back(builder.size(), read.waits.empty() ? ~0ULL : read.waits.front());
        } else if (read.name.starts_with("nccl:") || read.name.starts_with("gloo:")) {
            ++messages_;
        }
        if (read.recordFunction > 0) operators_[read.recordFunction] = builder.size();
        callers_.push_back(read.waits.empty() ? ~0ULL : read.waits.front());
        builder.add(read.node, read.name, read.waits);
    }
    // The call around a collective may stand behind it in the file.
    void finish(TraceBuilder& builder, const KinetoTimeline* timeline) {
        if (timeline != nullptr) link(builder, *timeline);
        for (const auto& [at, call] : calls_) {
            const auto found = groupOfCall_.find(call);
            if (found == groupOfCall_.end() || found->second.empty()) continue;
            const auto known = groups_.find(found->second);
            if (known != groups_.end() && known->second.empty()) continue;
            ExecutionTrace& trace = builder.trace();
            const std::int32_t group = builder.groupNamed(found->second);
            trace.nodes[at].group = group;
            if (group < 0) continue;
            trace.members.resize(std::max(trace.members.size(), static_cast<std::size_t>(group) + 1));
            if (known != groups_.end()) trace.members[static_cast<std::size_t>(group)].ranks = known->second;
        }
        builder.trace().ranks = ranks_;
        if (timeline == nullptr)
            builder.trace().warnings.push_back(
                warning("trace.no-times",
                        "the trace has what the host called and no times; what the device computes takes none",
                        "give the timeline that was recorded beside it", {std::string(file_), 0, 0, {}}));
        if (messages_ > 0)
            builder.trace().warnings.push_back(warning(
                "trace.messages", fmt::format("{} sends and receives say no partner; they were left out", messages_),
                {}, {std::string(file_), 0, 0, {}}));
    }

private:
    // Times of operators without those that they call; kernels as nodes of their own.
    void link(TraceBuilder& builder, const KinetoTimeline& timeline) {
        std::vector<TraceNode>& nodes = builder.trace().nodes;
        std::unordered_map<std::uint64_t, std::size_t> indexOf;
        std::uint64_t next = 0;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            indexOf.emplace(nodes[i].id, i);
            next = std::max(next, nodes[i].id + 1);
        }
        std::unordered_map<std::int64_t, std::size_t> launcher;  // by external id
        std::size_t timed = 0;
        for (const KinetoOperator& one : timeline.operators) {
            const auto at = operators_.find(one.recordFunction);
            if (one.recordFunction <= 0 || at == operators_.end()) continue;
            ++timed;
            if (one.external >= 0) launcher.emplace(one.external, at->second);
            if (!nodes[at->second].onHost) continue;
            nodes[at->second].microseconds += one.duration;
            const auto caller = indexOf.find(callers_[at->second]);
            if (caller != indexOf.end() && caller->second != at->second && nodes[caller->second].onHost)
                nodes[caller->second].microseconds -= one.duration;
        }
        for (TraceNode& node : nodes) node.microseconds = std::max(0.0, node.microseconds);
        // NCCL's kernels are launched by the collective's node or by the call around it.
        std::unordered_map<std::size_t, std::size_t> collectiveOf;
        for (const auto& [at, call] : calls_) {
            collectiveOf.emplace(at, at);
            if (const auto caller = indexOf.find(call); caller != indexOf.end())
                collectiveOf.emplace(caller->second, at);
        }
        struct Done {
            std::uint64_t id = 0;
            double end = -1;
        };
        std::map<std::int64_t, Done> streams;
        std::size_t unlinked = 0;
        for (const KinetoKernel& kernel : timeline.kernels) {
            const auto owner = launcher.find(kernel.external);
            std::vector<std::uint64_t> waits;
            if (owner != launcher.end()) waits.push_back(nodes[owner->second].id);
            unlinked += owner == launcher.end() ? 1 : 0;
            Done& before = streams[kernel.stream];
            if (before.end >= 0) waits.push_back(before.id);
            // Launched, and begun only when another stream's had ended: that is what it waited for.
            const Done* other = nullptr;
            for (const auto& [stream, done] : streams)
                if (stream != kernel.stream && done.end > before.end && done.end <= kernel.begin &&
                    kernel.launched >= 0 && kernel.launched < done.end && (other == nullptr || done.end > other->end))
                    other = &done;
            if (other != nullptr) waits.push_back(other->id);
            const bool exchange = kernel.name.find("nccl") != std::string::npos && owner != launcher.end();
            const auto found = exchange ? collectiveOf.find(owner->second) : collectiveOf.end();
            std::uint64_t id = next;
            if (found != collectiveOf.end()) {
                id = nodes[found->second].id;
                nodes[found->second].microseconds = kernel.duration;
                std::erase(waits, id);
                builder.waitFor(found->second, waits);
                collectiveOf.erase(found);
            } else {
                TraceNode node;
                node.id = next++;
                node.work = TraceWork::Compute;
                node.microseconds = kernel.duration;
                builder.add(node, kernel.name, waits);
            }
            before = {id, kernel.begin + kernel.duration};
        }
        const Place place{std::string(file_), 0, 0, {}};
        if (timed == 0)
            builder.trace().warnings.push_back(warning("trace.not-linked", "the timeline has no operator of the trace",
                                                       "are both of the same run, with `Record function id`?", place));
        if (unlinked > 0)
            builder.trace().warnings.push_back(
                warning("trace.not-linked",
                        fmt::format("{} of {} kernels have no operator in the trace; they follow their stream alone",
                                    unlinked, timeline.kernels.size()),
                        {}, place));
    }

    std::string_view file_;
    std::unordered_map<std::int64_t, std::size_t> operators_;  ///< by record function: index
    std::vector<std::uint64_t> callers_;                       ///< by index: id
    std::map<std::string, std::vector<std::int32_t>> groups_;
    std::map<std::uint64_t, std::string> groupOfCall_;
    std::vector<std::pair<std::size_t, std::uint64_t>> calls_;  ///< of collectives: index, caller
    std::int64_t ranks_ = 0;                                    ///< of the largest group
    std::size_t messages_ = 0;
};

struct ChakraJsonNode {
    RecordedNode read;
    std::int64_t type = 0;
};

ChakraJsonNode readGraphNode(JsonCursor& json) {
    ChakraJsonNode out;
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "Id" || key == "id") {
            out.read.node.id = recordedId(json);
        } else if (key == "Name" || key == "name") {
            out.read.name = json.text();
        } else if (key == "NodeType" || key == "type") {
            out.type = json.integer();
            if (out.type < 0 || out.type > 7)
                json.fail("value", fmt::format("there is no node type {}", out.type), "0 to 7");
        } else if (key == "runtime" || key == "duration_micros") {
            const double time = json.number();
            if (time < 0 || time > most_bytes) json.fail("value", fmt::format("a runtime of {} us", time), "0 or more");
            out.read.node.microseconds = time;
        } else if (key == "data_deps" || key == "ctrlDeps" || key == "ctrl_deps") {
            readIds(json, out.read.waits);
        } else if (key == "is_cpu_op") {
            out.read.node.onHost = json.kind() == Kind::Number ? json.number() != 0 : json.truth();
        } else if (key == "comm_size") {
            const double bytes = json.number();
            if (bytes < 0 || bytes > most_bytes) json.fail("value", fmt::format("{} bytes", bytes), "0 or more");
            out.read.node.bytes = static_cast<std::int64_t>(std::clamp(bytes, 0.0, most_bytes));
        } else {
            json.skip();
        }
    }
    return out;
}

Expected<ExecutionTrace> finishRecorded(const JsonCursor& json, TraceBuilder& builder, std::string_view file) {
    if (!json.ok()) return tl::unexpected(json.problem());
    if (builder.size() == 0)
        return fail("trace.empty", "the trace holds no node", {}, {}, {std::string(file), 0, 0, {}});
    return builder.finish(file);
}

}  // namespace

RecordedForm recordedForm(std::string_view text) {
    JsonCursor json(text, "", "trace");
    if (json.kind() != Kind::Object) return RecordedForm::None;
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "workload_graph") return RecordedForm::Chakra;
        if (key == "traceEvents") return RecordedForm::Kineto;
        if (key == "nodes") return RecordedForm::PyTorch;
        json.skip();
    }
    return RecordedForm::None;
}

Expected<ExecutionTrace> parsePyTorchTrace(std::string_view text, std::string_view file,
                                           const KinetoTimeline* timeline) {
    JsonCursor json(text, file, "trace");
    TraceBuilder builder;
    PyTorchTrace trace(file);
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "schema" && json.kind() == Kind::Text) {
            builder.trace().schema = json.text();
        } else if (key == "nodes") {
            for (json.array(); json.element();) {
                RecordedNode read = readOperator(json);
                if (json.ok()) trace.add(std::move(read), builder);
            }
        } else {
            json.skip();
        }
    }
    json.end();
    if (json.ok()) trace.finish(builder, timeline);
    return finishRecorded(json, builder, file);
}

Expected<ExecutionTrace> parseChakraJson(std::string_view text, std::string_view file) {
    JsonCursor json(text, file, "trace");
    TraceBuilder builder;
    std::size_t unsized = 0, messages = 0;
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key != "workload_graph") {
            json.skip();
            continue;
        }
        for (json.array(); json.element();) {
            auto [read, type] = readGraphNode(json);
            if (!json.ok()) break;
            TraceNode& node = read.node;
            constexpr TraceWork works[] = {TraceWork::Nothing, TraceWork::Nothing, TraceWork::Load,
                                           TraceWork::Store,   TraceWork::Compute, TraceWork::Compute,
                                           TraceWork::Compute, TraceWork::Compute};
            node.work = works[type];
            if (node.onHost && node.work != TraceWork::Nothing) node.work = TraceWork::Compute;
            messages += !node.onHost && (type == 5 || type == 6) ? 1 : 0;
            if (const auto op = type == 7 && !node.onHost ? recordedCollective(read.name) : std::nullopt) {
                node.work = TraceWork::Collective;
                node.collective = *op;
                unsized += node.bytes == 0 ? 1 : 0;
            }
            builder.add(node, read.name, read.waits);
        }
    }
    json.end();
    const Place place{std::string(file), 0, 0, {}};
    if (unsized > 0)
        builder.trace().warnings.push_back(warning(
            "trace.no-size", fmt::format("{} collectives have no size; they take the time that was recorded", unsized),
            {}, place));
    if (messages > 0)
        builder.trace().warnings.push_back(
            warning("trace.messages",
                    fmt::format("{} sends and receives take their recorded time on the device", messages), {}, place));
    builder.trace().schema = "Chakra JSON";
    return finishRecorded(json, builder, file);
}

}  // namespace orrery
