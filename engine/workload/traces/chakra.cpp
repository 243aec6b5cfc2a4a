#include "workload/traces/chakra.h"

#include "base/text/csv_stream.h"
#include "workload/traces/wire.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <vector>

namespace orrery {

namespace {

// Numbers of et_def.proto.
enum ChakraField : std::uint32_t {
    Id = 1,
    Name = 2,
    Type = 3,
    ControlDeps = 4,
    DataDeps = 5,
    Duration = 7,
    Attribute = 10
};
enum ChakraType : std::uint64_t { Invalid, Metadata, MemLoad, MemStore, Comp, CommSend, CommRecv, CommColl };
enum ChakraValue : std::uint32_t {
    Double = 3,
    Float = 5,
    Int32 = 7,
    Int64 = 9,
    UInt64 = 13,
    SInt32 = 15,
    SInt64 = 17,
    Fixed32 = 19,
    Fixed64 = 21,
    SFixed32 = 23,
    SFixed64 = 25,
    Bool = 27,
    BoolList = 28,
    Text = 29,
    TextList = 30,
    Bytes = 31
};

constexpr TraceCollective collectives[] = {TraceCollective::AllReduce,     TraceCollective::Reduce,
                                           TraceCollective::AllGather,     TraceCollective::Gather,
                                           TraceCollective::Scatter,       TraceCollective::Broadcast,
                                           TraceCollective::AllToAll,      TraceCollective::ReduceScatter,
                                           TraceCollective::ReduceScatter, TraceCollective::Barrier};

struct ChakraAttribute {
    std::string_view name;
    double number = 0;
    std::string_view text;
    std::uint32_t bits = ~0U;  ///< of a list of truths
};

double zigzag(std::uint64_t value) {
    return static_cast<double>(static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1U));
}

void listOfTruths(std::string_view text, std::uint32_t& bits) {
    WireReader reader(text);
    WireReader::Field field;
    bits = 0;
    for (std::uint32_t d = 0; reader.next(field);) {
        if (field.type != 2) {
            if (field.value != 0 && d < 32) bits |= 1U << d;
            ++d;
            continue;
        }
        WireReader packed(field.text);
        for (std::uint64_t value = 0; !packed.atEnd() && packed.varint(value); ++d)
            if (value != 0 && d < 32) bits |= 1U << d;
    }
}

bool readAttribute(std::string_view message, ChakraAttribute& out) {
    WireReader reader(message);
    WireReader::Field field;
    while (reader.next(field)) {
        switch (field.number) {
            case 1:
                out.name = field.text;
                break;
            case Double:
                out.number = std::bit_cast<double>(field.value);
                break;
            case Float:
                out.number = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(field.value)));
                break;
            case SInt32:
            case SInt64:
                out.number = zigzag(field.value);
                break;
            case SFixed32:
                out.number = static_cast<double>(static_cast<std::int32_t>(field.value));
                break;
            case Int32:
            case Int64:
            case SFixed64:
                out.number = static_cast<double>(static_cast<std::int64_t>(field.value));
                break;
            case BoolList:
                listOfTruths(field.text, out.bits);
                break;
            case Text:
            case Bytes:
                out.text = field.text;
                break;
            default:
                if (field.type != 2 && field.number > 2) out.number = static_cast<double>(field.value);
        }
    }
    return reader.ok();
}

void appendWaits(const WireReader::Field& field, std::vector<std::uint64_t>& waits) {
    if (field.type == 0) {
        waits.push_back(field.value);
        return;
    }
    WireReader packed(field.text);
    for (std::uint64_t id = 0; !packed.atEnd() && packed.varint(id);) waits.push_back(id);
}

struct ChakraNode {
    TraceNode node;
    std::string_view name;
    std::vector<std::uint64_t> waits;
    std::uint64_t type = 0;
    double collective = 0, source = -1, target = -1;
    std::string_view wrong;  ///< attribute whose value cannot be
};

void takeAttribute(const ChakraAttribute& a, ChakraNode& out, TraceBuilder& builder) {
    // What others read as whole numbers of 64 bits; messages such that doubles count them exactly.
    constexpr double largest = 9e15, largestWhole = 2147483647, largestWork = 9e18;
    const auto within = [&](double low, double high) {
        if (a.number >= low && a.number <= high) return true;
        out.wrong = a.name;
        return false;
    };
    if (a.name == "is_cpu_op") {
        out.node.onHost = a.number != 0;
    } else if (a.name == "num_ops") {
        if (within(0, largestWork)) out.node.flops = a.number;
    } else if (a.name == "tensor_size") {
        if (within(0, largestWork)) out.node.tensorBytes = a.number;
    } else if (a.name == "comm_type") {
        if (within(0, 9)) out.collective = a.number;
    } else if (a.name == "comm_size") {
        if (within(0, largest)) out.node.bytes = static_cast<std::int64_t>(a.number);
    } else if (a.name == "comm_priority") {
        if (within(-largestWhole, largestWhole)) out.node.priority = static_cast<std::int32_t>(a.number);
    } else if (a.name == "comm_src") {
        if (within(0, largestWhole)) out.source = a.number;
    } else if (a.name == "comm_dst") {
        if (within(0, largestWhole)) out.target = a.number;
    } else if (a.name == "comm_tag") {
        if (within(-largestWhole, 2 * largestWhole))
            out.node.tag = static_cast<std::int32_t>(static_cast<std::int64_t>(a.number));
    } else if (a.name == "pg_name") {
        out.node.group =
            builder.groupNamed(a.text.empty() && a.number != 0 ? fmt::format("{}", a.number) : std::string(a.text));
    } else if (a.name == "involved_dim") {
        out.node.dimensions = a.bits;
    }
}

/// Which dependencies count.
enum class ChakraWaits : std::uint8_t { All, Data };

bool readNode(std::string_view message, ChakraNode& out, TraceBuilder& builder, ChakraWaits which, bool& control) {
    WireReader reader(message);
    WireReader::Field field;
    while (reader.next(field)) {
        switch (field.number) {
            case Id:
                out.node.id = field.value;
                break;
            case Name:
                out.name = field.text;
                break;
            case Type:
                out.type = field.value;
                break;
            case ControlDeps:
                control = true;
                if (which == ChakraWaits::All) appendWaits(field, out.waits);
                break;
            case DataDeps:
                appendWaits(field, out.waits);
                break;
            case Duration:
                out.node.microseconds = static_cast<double>(field.value);
                break;
            case Attribute: {
                ChakraAttribute attribute;
                if (!readAttribute(field.text, attribute)) return false;
                takeAttribute(attribute, out, builder);
                break;
            }
            default:
                break;
        }
    }
    return reader.ok();
}

void setWork(ChakraNode& read) {
    TraceNode& node = read.node;
    switch (read.type) {
        case MemLoad:
            node.work = TraceWork::Load;
            break;
        case MemStore:
            node.work = TraceWork::Store;
            break;
        case Comp:
            node.work = TraceWork::Compute;
            break;
        case CommSend:
            node.work = TraceWork::Send;
            break;
        case CommRecv:
            node.work = TraceWork::Receive;
            break;
        case CommColl:
            node.work = TraceWork::Collective;
            break;
        default:
            node.work = TraceWork::Nothing;
            break;
    }
    // What the host does stands in the trace as it was recorded, whatever its type.
    if (node.onHost && node.work != TraceWork::Nothing) node.work = TraceWork::Compute;
    if (node.work == TraceWork::Send) node.peer = static_cast<std::int32_t>(read.target);
    if (node.work == TraceWork::Receive) node.peer = static_cast<std::int32_t>(read.source);
    node.collective = collectives[static_cast<std::size_t>(read.collective)];
}

std::string_view schemaOf(std::string_view message) {
    WireReader reader(message);
    WireReader::Field field;
    std::string_view version;
    while (reader.next(field)) {
        if (field.number == 1 && field.type == 2) version = field.text;
        if (field.number != 2 || field.type != 2) continue;
        ChakraAttribute attribute;
        if (readAttribute(field.text, attribute) && attribute.name == "schema") version = attribute.text;
    }
    return version;
}

Unexpected tooLarge(std::string_view file, std::string what) {
    return fail("trace.large", "the trace is too large: " + what, "what fits into memory", "record fewer steps",
                {std::string(file), 0, 0, {}});
}

/// `control`: whether there were such dependencies.
Expected<ExecutionTrace> parseWith(std::string_view text, std::string_view file, ChakraWaits which, bool& control) {
    TraceBuilder builder;
    WireReader reader(text);
    bool first = true;
    while (!reader.atEnd()) {
        const std::size_t at = text.size() - reader.left();
        std::uint64_t length = 0;
        std::string_view message;
        ChakraNode node;
        const bool framed = reader.varint(length) && reader.bytes(length, message);
        if (framed && first) {
            builder.trace().schema = schemaOf(message);
            first = false;
            continue;
        }
        if (!framed || message.empty() || !readNode(message, node, builder, which, control))
            return fail(
                "trace.syntax", fmt::format("byte {} begins no message of a Chakra trace", at),
                "nodes, each after its length",
                framed ? "the file holds something else, or another version" : "the file is cut short or damaged",
                {std::string(file), 0, 0, fmt::format("node {}", builder.size())});
        if (!node.wrong.empty())
            return fail("trace.value", fmt::format("`{}` of node {} is out of range", node.wrong, node.node.id),
                        "sizes from 0 on and the schema's collectives", {},
                        {std::string(file), 0, 0, std::string(node.name)});
        setWork(node);
        const bool exchanges = node.node.work == TraceWork::Send || node.node.work == TraceWork::Receive;
        if (exchanges && node.node.peer < 0)
            return fail("trace.value", fmt::format("node {} does not say with whom it exchanges", node.node.id),
                        node.node.work == TraceWork::Send ? "`comm_dst`" : "`comm_src`", {},
                        {std::string(file), 0, 0, std::string(node.name)});
        if (builder.size() >= most_trace_nodes || builder.waits() + node.waits.size() > most_trace_waits)
            return tooLarge(
                file, fmt::format("it has more than {} nodes or {} dependencies", most_trace_nodes, most_trace_waits));
        builder.add(node.node, node.name, node.waits);
    }
    if (builder.size() == 0)
        return fail("trace.empty", "the trace holds no node", "a Chakra trace", {}, {std::string(file), 0, 0, {}});
    return builder.finish(file);
}

}  // namespace

Expected<std::string> readTraceFile(const std::string& path) {
    auto text = CsvStream::head(path, largest_trace + 1);
    if (text && text->size() > largest_trace)
        return tooLarge(path, fmt::format("it has more than {} MiB", largest_trace >> 20));
    return text;
}

Expected<ExecutionTrace> parseChakra(std::string_view text, std::string_view file) {
    bool control = false;
    auto trace = parseWith(text, file, ChakraWaits::All, control);
    if (trace || trace.error().code != "trace.cycle" || !control) return trace;
    // Converters cut an operator of the host in two around what it calls, and leave the caller of before: the second
    // half would wait for what waits for it. The order that they made stands in the data's dependencies.
    auto data = parseWith(text, file, ChakraWaits::Data, control);
    if (!data) return trace;
    data->warnings.push_back(warning(
        "trace.control", "control dependencies go against those of data and were left out: " + trace.error().message,
        {}, {std::string(file), 0, 0, {}}));
    return data;
}

Expected<ExecutionTrace> readChakra(const std::string& path) {
    auto text = readTraceFile(path);
    if (!text) return Unexpected(std::move(text.error()));
    return parseChakra(*text, path);
}

namespace {

void attribute(WireWriter& node, std::string_view name, std::uint32_t kind, std::uint64_t value) {
    WireWriter inner;
    inner.text(1, name);
    inner.whole(kind, value);
    node.text(Attribute, inner.out());
}
void attribute(WireWriter& node, std::string_view name, std::uint32_t kind, std::string_view value) {
    WireWriter inner;
    inner.text(1, name);
    inner.text(kind, value);
    node.text(Attribute, inner.out());
}

/// Into 63 bits; what does not fit is the most that does.
std::uint64_t whole(double value) {
    return value < 9223372036854775807.0 ? static_cast<std::uint64_t>(value) : ~std::uint64_t{0} >> 1;
}
/// Truths from bit 0 up to the last one that is set, packed.
std::string truths(std::uint32_t bits) {
    WireWriter packed, list;
    for (; bits != 0; bits >>= 1) packed.varint(bits & 1U);
    list.text(1, packed.out());
    return std::move(list.out());
}

std::uint64_t typeNumber(TraceWork work) {
    switch (work) {
        case TraceWork::Nothing:
            return Metadata;
        case TraceWork::Compute:
            return Comp;
        case TraceWork::Load:
            return MemLoad;
        case TraceWork::Store:
            return MemStore;
        case TraceWork::Send:
            return CommSend;
        case TraceWork::Receive:
            return CommRecv;
        case TraceWork::Collective:
            return CommColl;
    }
    return Metadata;
}

std::uint64_t collectiveNumber(TraceCollective op) {
    for (std::uint64_t i = 0; i < std::size(collectives); ++i)
        if (collectives[i] == op) return i;
    return 0;
}

std::string nodeText(const ExecutionTrace& trace, const TraceNode& node) {
    WireWriter out;
    if (node.id != 0) out.whole(Id, node.id);
    out.text(Name, trace.name(node));
    out.whole(Type, typeNumber(node.work));
    WireWriter waits;
    for (const std::uint32_t at : trace.waitsOf(node)) waits.varint(trace.nodes[at].id);
    if (!waits.out().empty()) out.text(DataDeps, waits.out());
    if (node.microseconds > 0) out.whole(Duration, whole(node.microseconds + 0.5));
    attribute(out, "is_cpu_op", Bool, node.onHost ? 1 : 0);
    if (node.flops > 0) attribute(out, "num_ops", Int64, whole(node.flops));
    if (node.tensorBytes > 0) attribute(out, "tensor_size", UInt64, whole(node.tensorBytes));
    if (node.work == TraceWork::Collective) attribute(out, "comm_type", Int64, collectiveNumber(node.collective));
    if (node.bytes > 0) attribute(out, "comm_size", Int64, static_cast<std::uint64_t>(node.bytes));
    if (node.dimensions != ~0U) attribute(out, "involved_dim", BoolList, truths(node.dimensions));
    if (node.group >= 0) attribute(out, "pg_name", Text, trace.groups[static_cast<std::size_t>(node.group)]);
    if (node.work == TraceWork::Send) attribute(out, "comm_dst", Int32, static_cast<std::uint64_t>(node.peer));
    if (node.work == TraceWork::Receive) attribute(out, "comm_src", Int32, static_cast<std::uint64_t>(node.peer));
    if (node.work == TraceWork::Send || node.work == TraceWork::Receive)
        attribute(out, "comm_tag", Int32, static_cast<std::uint64_t>(static_cast<std::int64_t>(node.tag)));
    if (node.priority != 0)
        attribute(out, "comm_priority", Int32, static_cast<std::uint64_t>(static_cast<std::int64_t>(node.priority)));
    return std::move(out.out());
}

}  // namespace

std::string chakraText(const ExecutionTrace& trace) {
    WireWriter head;
    WireWriter schema;
    schema.text(1, "schema");
    schema.text(Text, "1.0.2-chakra.0.0.4");
    head.text(2, schema.out());
    WireWriter file;
    const auto framed = [&](std::string_view message) {
        file.varint(message.size());
        file.out() += message;
    };
    framed(head.out());
    for (const TraceNode& node : trace.nodes) framed(nodeText(trace, node));
    return std::move(file.out());
}

}  // namespace orrery
