#pragma once

// One operator as a rule sees it: the file's node with its attributes resolved, what is known of its inputs, and the
// outputs to be filled.

#include "workload/onnx/value.h"

#include <onnx/onnx_pb.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orrery::onnx_import {

/// Arguments of a function's attributes, by the names of the function's own attributes.
using AttributeArguments = std::map<std::string, const ::onnx::AttributeProto*, std::less<>>;

/// Where an operator is defined.
enum class Domain : std::uint8_t { Standard, Microsoft, Classic, Training, Other };

class Node {
public:
    Node(const ::onnx::NodeProto& proto, Domain domain, std::int64_t opset, const AttributeArguments* arguments)
        : proto_(proto), domain_(domain), opset_(opset), arguments_(arguments) {}

    const ::onnx::NodeProto& proto() const { return proto_; }
    std::string_view type() const { return proto_.op_type(); }
    Domain domain() const { return domain_; }
    std::int64_t opset() const { return opset_; }

    /// The attribute, or null; a reference to an attribute of the enclosing function gives the caller's argument.
    const ::onnx::AttributeProto* attribute(std::string_view name) const;
    bool has(std::string_view name) const { return attribute(name) != nullptr; }
    std::int64_t integer(std::string_view name, std::int64_t fallback) const;
    double real(std::string_view name, double fallback) const;
    std::string text(std::string_view name, std::string_view fallback = {}) const;
    Extents integers(std::string_view name) const;
    const ::onnx::GraphProto* graph(std::string_view name) const;
    const ::onnx::AttributeProto& resolved(const ::onnx::AttributeProto& attribute) const;

private:
    const ::onnx::NodeProto& proto_;
    Domain domain_;
    std::int64_t opset_;
    const AttributeArguments* arguments_;
};

/// What a rule finds wrong with a node.
struct Contradiction {
    std::string message, expected, hint;
};

/// A product of matrices that a fused operator does beside its own kind of work: input × weight (+ bias), by slots.
struct Projection {
    int input = 0, weight = 1, bias = -1;
    Extents result;
};

class RuleContext {
public:
    RuleContext(const Node& of, std::vector<const Value*> inputs, std::size_t outputs)
        : node(of), in(std::move(inputs)), out(outputs) {}

    const Node& node;
    std::vector<const Value*> in;  ///< null for an absent optional input
    std::vector<Value> out;

    // What the operator that stays in the graph gets beyond its type and attributes.
    std::optional<AttentionShape> attention;
    std::optional<Projection> projection;
    std::map<std::string, OperatorAttribute, std::less<>> attributes;
    std::vector<int> cacheInputs;                 ///< slots that are KV caches
    std::vector<std::pair<int, Extents>> stored;  ///< slots whose weight is packed, with its logical extents
    bool shapeOnly = false;  ///< reads its input's extents alone, so its result is constant once they are known
    bool random = false;     ///< not constant though its inputs may be

    const Value* input(std::size_t i) const { return i < in.size() ? in[i] : nullptr; }
    /// Input i if its rank is known, else null.
    const Value* shaped(std::size_t i) const {
        const Value* value = input(i);
        return value && value->shaped() ? value : nullptr;
    }
    /// Whole-number elements of input i (or null): targets, axes, pads.
    const std::vector<std::int64_t>* elements(std::size_t i) const {
        const Value* value = input(i);
        return value ? value->integers() : nullptr;
    }
    ElementType type(std::size_t i) const { return input(i) ? input(i)->type : ElementType::Undefined; }

    void set(std::size_t i, ElementType type, Extents extents);
    void setType(std::size_t i, ElementType type) {
        if (i < out.size()) out[i].type = type;
    }
    /// Output i is as input j.
    void like(std::size_t i, std::size_t j);

    /// Records that the node contradicts itself; the first one counts. Returns false, to be returned.
    bool contradict(std::string message, std::string expected = {}, std::string hint = {});
    const std::optional<Contradiction>& contradiction() const { return contradiction_; }

    /// An axis counted from the front, or nothing (and a contradiction) if it is outside [-rank, rank).
    std::optional<std::size_t> axis(std::int64_t axis, std::size_t rank);
    /// Two extents that must agree: the known one of them; contradicts if both are known and differ.
    std::int64_t agree(std::int64_t a, std::int64_t b, std::string_view what);
    /// Numpy broadcasting; contradicts where extents differ and neither is 1.
    Extents broadcast(const Extents& a, const Extents& b);

private:
    std::optional<Contradiction> contradiction_;
};

}  // namespace orrery::onnx_import
