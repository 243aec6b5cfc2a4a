#include "hardware/attributes.h"
#include "hardware/files/hardware_yaml.h"
#include "hardware/edit/tree_edit.h"
#include "base/text/yaml_node.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace orrery {
namespace {

constexpr std::size_t widest = 120;

std::string flow(const std::vector<std::string>& items) {
    std::string out = "[";
    for (const std::string& item : items) out += (out.size() > 1 ? ", " : "") + yamlScalar(item);
    return out + "]";
}

// The unit in which a bare SI value is written. Fractions and areas are printed in other units than they are kept in.
std::string_view inFile(Dimension dimension) {
    return dimension == Dimension::Fraction ? "" : dimension == Dimension::Area ? "m2" : baseUnit(dimension);
}

// Numbers set by code have no spelling yet.
std::string spelled(const Measure& measure, Dimension dimension) {
    if (!measure.spelling.empty()) return yamlScalar(measure.spelling);
    if (!measure.perCycle)
        return fmt::format("{}{}{}", measure.si, inFile(dimension).empty() ? "" : " ", inFile(dimension));
    return fmt::format("{}{}", measure.si,
                       dimension == Dimension::DataRate ? " B/cycle"
                       : dimension == Dimension::Time   ? " cycles"
                                                        : "/cycle");
}

std::string flow(const Attribute::Value& value, Dimension dimension) {
    struct Visitor {
        Dimension dimension;
        std::string operator()(const Measure& measure) const { return spelled(measure, dimension); }
        std::string operator()(const std::string& text) const { return yamlScalar(text); }
        std::string operator()(const std::vector<std::string>& items) const { return flow(items); }
        std::string operator()(const std::vector<TableRow>& rows) const {
            std::string out = "{";
            for (const TableRow& row : rows) {
                out += (out.size() > 1 ? ", " : "") + yamlScalar(row.key) + ": " + spelled(row.value, dimension);
            }
            return out + "}";
        }
    };
    return std::visit(Visitor{dimension}, value);
}

std::string flow(const Attribute& attribute, ComponentKind kind) {
    const AttributeSpec* spec = attributeSpec(kind, attribute.name);
    std::string value = flow(attribute.value, spec ? spec->dimension : Dimension::Number);
    if (attribute.source.empty() && attribute.note.empty()) return value;
    value.insert(0, "{value: ");
    if (!attribute.source.empty()) value += ", source: " + yamlScalar(attribute.source);
    if (!attribute.note.empty()) value += ", note: " + yamlScalar(attribute.note);
    return value + "}";
}

// `key: value` of everything but the children. The root's kind goes without saying.
std::vector<std::string> entries(const Component& component, bool withKind) {
    std::vector<std::string> out;
    if (withKind) out.push_back("kind: " + std::string(toText(component.kind)));
    if (!component.name.empty()) out.push_back("name: " + yamlScalar(component.name));
    if (component.count != 1) out.push_back(fmt::format("count: {}", component.count));
    if (!component.mesh.empty()) out.push_back(fmt::format("mesh: [{}]", fmt::join(component.mesh, ", ")));
    for (const Attribute& attribute : component.attributes)
        out.push_back(attribute.name + ": " + flow(attribute, component.kind));
    for (const UnknownKey& key : component.unknown) out.push_back(yamlScalar(key.key) + ": " + key.yaml);
    return out;
}

void writeComment(const std::string& comment, const std::string& indent, std::string& out) {
    if (comment.empty()) return;
    for (std::size_t at = 0; at <= comment.size();) {
        const auto end = std::min(comment.find('\n', at), comment.size());
        out += indent + (end > at ? "# " + comment.substr(at, end - at) : "#") + "\n";
        at = end + 1;
    }
}

void writeItem(const Component& component, const std::string& indent, std::string& out);

void writeChildren(const Component& component, const std::string& indent, std::string& out) {
    if (component.children.empty()) return;
    out += indent + "children:\n";
    for (const Component& child : component.children) writeItem(child, indent + "  ", out);
}

// One item of a `children` list: a leaf on one line where it fits, else a key a line.
void writeItem(const Component& component, const std::string& indent, std::string& out) {
    writeComment(component.comment, indent, out);
    const auto all = entries(component, true);
    const std::string line = fmt::format("{}- {{{}}}\n", indent, fmt::join(all, ", "));
    if (component.children.empty() && line.size() <= widest) {
        out += line;
        return;
    }
    for (std::size_t i = 0; i < all.size(); ++i) out += indent + (i == 0 ? "- " : "  ") + all[i] + "\n";
    writeChildren(component, indent + "  ", out);
}

}  // namespace

std::string writeHardware(const Hardware& hardware) {
    std::string out;
    writeComment(hardware.comment, "", out);
    out += "orrery: hardware/1\n";
    if (!hardware.name.empty()) out += "name: " + yamlScalar(hardware.name) + "\n";
    if (!hardware.group.empty()) out += "group: " + yamlScalar(hardware.group) + "\n";
    if (!hardware.description.empty()) out += "description: " + yamlScalar(hardware.description) + "\n";
    if (!hardware.derivedFrom.empty()) out += "derived_from: " + yamlScalar(hardware.derivedFrom) + "\n";
    if (!hardware.sources.empty()) out += "sources:\n";
    for (const Source& source : hardware.sources) {
        out += fmt::format("  {}: {}\n", yamlScalar(source.key), yamlScalar(source.text));
    }
    for (const UnknownKey& key : hardware.unknown) out += yamlScalar(key.key) + ": " + key.yaml + "\n";
    const auto root = entries(hardware.root, false);
    out += "system:\n";
    for (const std::string& entry : root) out += "  " + entry + "\n";
    writeChildren(hardware.root, "  ", out);
    if (!hardware.layoutYaml.empty()) {
        out += "layout:\n";
        for (std::size_t at = 0; at < hardware.layoutYaml.size();) {
            const auto end = std::min(hardware.layoutYaml.find('\n', at), hardware.layoutYaml.size());
            out += "  " + hardware.layoutYaml.substr(at, end - at) + "\n";
            at = end + 1;
        }
    }
    return out;
}

std::string writeComponents(const std::vector<Component>& parts) {
    std::string out;
    for (const Component& part : parts) writeItem(part, "", out);
    return out;
}

std::string writeComponent(const Component& component) {
    std::string out;
    writeComment(component.comment, "", out);
    for (const std::string& entry : entries(component, true)) out += entry + "\n";
    writeChildren(component, "", out);
    return out;
}

}  // namespace orrery
