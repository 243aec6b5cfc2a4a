#include "workload/traces/operator_table.h"

#include "base/text/words.h"
#include "workload/traces/table_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>

namespace orrery {

namespace {

constexpr double element_bytes = 4, most_value = 9e15;

/// The sum of `[a; b; …]`.
Expected<double> sumOf(const TableColumns& table, std::string_view name) {
    const auto text = table.cell(name);
    if (!text) return Unexpected(text.error());
    std::string_view list = *text;
    if (!list.starts_with('[') || !list.ends_with(']'))
        return table.refuse("trace.value", fmt::format("`{}` of {} is no list", list.substr(0, 40), name), "[a; b; …]");
    list = trimmed(list.substr(1, list.size() - 2));
    double all = 0;
    if (list.empty()) return all;
    for (const std::string_view one : splitTrimmed(list, ';')) {
        const auto value = numberIn(one);
        if (!value || *value < 0 || *value > most_value)
            return table.refuse("trace.value", fmt::format("`{}` of {} makes no sense", one, name),
                                "elements from 0 on");
        all += *value;
    }
    return all;
}

void addBehind(TraceBuilder& builder, TraceNode node, std::string_view name) {
    node.id = builder.size();
    const std::uint64_t before[] = {node.id - 1};
    builder.add(node, name, std::span<const std::uint64_t>(before, node.id > 0 ? 1 : 0));
}

Unexpected nothingInTable(std::string_view file, std::string_view what) {
    return fail("trace.empty", fmt::format("the table holds no {}", what), {}, {}, {std::string(file), 0, 0, {}});
}

bool firstLineHas(std::string_view text, std::string_view begin, std::string_view column) {
    const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size()));
    return line.starts_with(begin) && line.find(column) != std::string_view::npos;
}

constexpr std::pair<std::string_view, TraceCollective> log_exchanges[] = {
    {"all_reduce", TraceCollective::AllReduce},
    {"all_gather", TraceCollective::AllGather},
    {"reduce_scatter", TraceCollective::ReduceScatter},
    {"all_to_all", TraceCollective::AllToAll},
    {"broadcast", TraceCollective::Broadcast},
    {"reduce", TraceCollective::Reduce},
    {"gather", TraceCollective::Gather},
    {"scatter", TraceCollective::Scatter},
    {"barrier", TraceCollective::Barrier}};

std::optional<TraceCollective> logExchange(std::string_view type) {
    for (const auto& [name, op] : log_exchanges)
        if (type == name) return op;
    return std::nullopt;
}

}  // namespace

bool isOperatorTable(std::string_view text) {
    return firstLineHas(text, "OperatorID", "Operator_cudatime");
}

Expected<ExecutionTrace> operatorTrace(std::string_view text, std::string_view file) {
    TableColumns table(text, file);
    TraceBuilder builder;
    for (;;) {
        const auto more = table.next();
        if (!more) return Unexpected(more.error());
        if (!*more) break;
        const auto name = table.cell("OperatorName"), stage = table.cell("stage");
        const auto time = table.number("Operator_cudatime");
        const auto in = sumOf(table, "InputSize"), out = sumOf(table, "OutputSize");
        if (!name) return Unexpected(name.error());
        if (!stage) return Unexpected(stage.error());
        for (const auto* value : {&time, &in, &out})
            if (!*value) return Unexpected(value->error());
        if (*stage != "forward" && *stage != "backward" && *stage != "optimizer")
            return table.refuse("trace.value", fmt::format("there is no stage `{}`", *stage),
                                "forward, backward or optimizer");
        TraceNode node;
        node.work = TraceWork::Compute;
        node.microseconds = *time;
        node.tensorBytes = (*in + *out) * element_bytes;
        addBehind(builder, node, fmt::format("{} {}", *stage, *name));
    }
    if (builder.size() == 0) return nothingInTable(file, "operator");
    builder.trace().ranks = 1;
    builder.trace().schema = "TrioSim";
    return builder.finish(file);
}

bool isExchangeLog(std::string_view text) {
    return firstLineHas(text, "comm_type", "msg_size");
}

Expected<ExecutionTrace> exchangeLogTrace(std::string_view text, std::string_view file) {
    TableColumns table(text, file);
    TraceBuilder builder;
    struct Row {
        TraceNode node;
        std::string name, group;
    };
    std::vector<Row> rows;
    std::map<std::string, std::int64_t> sizes;
    std::size_t left = 0;
    for (;;) {
        const auto more = table.next();
        if (!more) return Unexpected(more.error());
        if (!*more) break;
        const auto type = table.cell("comm_type"), group = table.cell("comm_group");
        if (!type) return Unexpected(type.error());
        if (!group) return Unexpected(group.error());
        const std::string_view kind =
            type->substr(type->rfind('.') == std::string_view::npos ? 0 : type->rfind('.') + 1);
        if (kind == "epoch_end") continue;
        const auto op = logExchange(kind);
        if (!op && (kind == "isend" || kind == "irecv" || kind == "computation")) {
            ++left;
            continue;
        }
        if (!op)
            return table.refuse("trace.value", fmt::format("there is no exchange `{}`", *type),
                                "CommType.all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, …");
        // Groups of some rows are not measured: `None`.
        const auto members = table.cell("comm_group_size");
        if (!members) return Unexpected(members.error());
        const auto size = *members == "None" ? Expected<double>(0) : table.number("comm_group_size");
        const auto bytes = table.number("msg_size");
        const auto time = table.number("_elapsed_time");
        const auto stage = table.cell("stage");
        for (const auto* value : {&bytes, &size, &time})
            if (!*value) return Unexpected(value->error());
        if (!stage) return Unexpected(stage.error());
        if (*size > 1 << 24)
            return table.refuse("trace.value", fmt::format("a group of {}", *size), "16 million ranks");
        Row row;
        row.node.work = TraceWork::Collective;
        row.node.collective = *op;
        row.node.microseconds = *time * 1000;
        row.node.bytes = static_cast<std::int64_t>(*bytes);
        row.group = std::string(group->substr(group->rfind('.') == std::string_view::npos ? 0 : group->rfind('.') + 1));
        row.name = fmt::format("{} {}", *stage, toText(*op));
        std::int64_t& known = sizes[row.group];
        known = std::max(known, static_cast<std::int64_t>(*size));
        rows.push_back(std::move(row));
    }
    if (rows.empty()) return nothingInTable(file, "exchange");
    const auto found = sizes.find("tp_group");
    const std::int64_t tensor = found == sizes.end() ? 1 : std::max<std::int64_t>(1, found->second);
    std::int64_t& ranks = builder.trace().ranks;
    for (const auto& [name, size] : sizes) {
        if (builder.groupNamed(name) >= 0)
            builder.trace().members.push_back({size, name == "tp_group" ? 1 : tensor, {}});
        ranks = std::max(ranks, name == "tp_group" ? size : size * tensor);
    }
    for (Row& row : rows) {
        row.node.group = builder.groupNamed(row.group);
        // The log has what everyone holds in the end.
        if (const std::int64_t size = sizes[row.group]; row.node.collective == TraceCollective::AllGather && size > 1)
            row.node.bytes = (row.node.bytes + size - 1) / size;
        addBehind(builder, row.node, row.name);
    }
    if (left > 0)
        builder.trace().warnings.push_back(
            warning("trace.messages", fmt::format("{} messages and computations of the log were left out", left), {},
                    {std::string(file), 0, 0, {}}));
    builder.trace().schema = "AICB";
    return builder.finish(file);
}

}  // namespace orrery
