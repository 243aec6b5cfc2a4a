#pragma once

// The one hardware description: a tree of components from system down to register file. Every kind is the same
// struct; what an attribute means, its unit, default and range are declared once in attributes.h. Methods never walk
// this tree: they ask for a view (device_view.h).

#include "base/diagnostic.h"
#include "base/unit.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace orrery {

enum class ComponentKind : std::uint8_t {
    System,
    Node,
    Package,
    Die,
    Cluster,
    Core,   ///< SM, compute unit, CPU core, NPU core
    Array,  ///< a grid of processing elements, drawn and stored as one component with a mesh
    VectorUnit,
    TensorUnit,
    Mac,
    Buffer,
    Cache,
    RegisterFile,
    Dram,  ///< DRAM and HBM
    Link,
    Switch,
    Topology,
};
inline constexpr int componentKindCount = 17;

std::string_view toText(ComponentKind kind);  ///< as in files: `register_file`
std::string_view label(ComponentKind kind);   ///< for people: `Register file`
std::optional<ComponentKind> componentKind(std::string_view text);

/// One row of an attribute that is a table, e.g. `macs: {bf16: 512/cycle, fp8: 1024/cycle}`.
struct TableRow {
    std::string key;
    Measure value;
    bool operator==(const TableRow&) const = default;
};

/// One attribute as a person wrote it. The spelling inside Measure survives edits elsewhere, so a file round-trips.
struct Attribute {
    using Value = std::variant<Measure, std::string, std::vector<std::string>, std::vector<TableRow>>;
    std::string name;
    Value value;
    std::string source;  ///< key into Hardware::sources, or free text; `unverified` if nobody has checked it
    std::string note;
    bool operator==(const Attribute&) const = default;
};

/// A key that this version does not know, kept as YAML text so that nothing is lost.
struct UnknownKey {
    std::string key;
    std::string yaml;
    bool operator==(const UnknownKey&) const = default;
};

struct Component {
    ComponentKind kind = ComponentKind::System;
    std::string name;
    std::int64_t count = 1;             ///< identical copies (×132), drawn and stored once
    std::vector<std::int64_t> mesh;     ///< replication as a grid, e.g. {14, 12}; multiplies with count
    std::vector<Attribute> attributes;  ///< in file order
    std::vector<Component> children;
    std::vector<UnknownKey> unknown;
    std::string comment;  ///< the `# …` lines above the component in its file, without the marks
    bool operator==(const Component&) const = default;

    const Attribute* find(std::string_view attribute) const;
    Attribute* find(std::string_view attribute);
    /// count × product of mesh.
    std::int64_t instances() const;
};

/// Where an attribute's value comes from: its own source, else the `source` of its component, else empty.
std::string_view sourceOf(const Component& component, const Attribute& attribute);
/// How many of `child` one `parent` holds: instances(), times the ranks, chips or banks of a DRAM for a component that
/// says `per: bank`.
std::int64_t instancesIn(const Component& parent, const Component& child);

struct Source {
    std::string key;
    std::string text;
    bool operator==(const Source&) const = default;
};

/// A whole design, as in one hardware file.
struct Hardware {
    std::string name;
    std::string group;  ///< of the catalogue: `GPU`, `TPU`, `Accelerator`, `CPU`, `Edge`
    std::string description;
    std::string derivedFrom;  ///< name of the design that this one was copied from; empty for none
    std::vector<Source> sources;
    Component root;          ///< kind System
    std::string layoutYaml;  ///< canvas positions: lines `key: value` of YAML, never read by the engine
    std::vector<UnknownKey> unknown;
    std::string comment;  ///< the `# …` lines at the top of the file
    bool operator==(const Hardware&) const = default;
};

/// Indices of children from the root down; the empty path is the root. Stable while the tree's shape is unchanged.
using ComponentPath = std::vector<int>;

const Component* componentAt(const Component& root, const ComponentPath& path);
Component* componentAt(Component& root, const ComponentPath& path);
/// `system/h100/sm/smem`: names joined by slashes, for people and for places in diagnostics.
std::string pathText(const Component& root, const ComponentPath& path);
/// Resolves `sm/smem` or `smem`: a path of names from any component downwards. Fails if nothing or more than one
/// component fits, naming the nearest candidates.
Expected<ComponentPath> findComponent(const Component& root, std::string_view names);

/// The name, or the kind where there is none.
std::string_view nameOf(const Component& component);

/// Sets one attribute from text (`hbm3.bandwidth` = `4 TB/s`, `sm.count` = `144`, `clock` on the only component that
/// has one, `tensor.macs.bf16` = `1024/cycle`), checked against the attribute's declaration. For `--set` and the
/// inspector. Also takes `count`, `mesh` (`14 x 12`) and `name`. A changed value takes the source `edited`; an empty
/// text removes the attribute.
Expected<Hardware> withAttribute(Hardware hardware, std::string_view path, std::string_view value);
Expected<void> setAttribute(Component& component, std::string_view attribute, std::string_view value);

}  // namespace orrery
