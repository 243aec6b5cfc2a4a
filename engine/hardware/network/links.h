#pragma once

// Where links begin and end. A link is a component of kind Link; `from` and `to` are paths of names from the link's
// parent downwards (`gpu0`, `node0/gpu0`). An end that is not given leaves the parent: it stands for the world outside.

#include "hardware/component.h"

#include <optional>
#include <string>
#include <vector>

namespace orrery {

struct LinkEnds {
    ComponentPath link;                     ///< the Link component
    std::optional<ComponentPath> from, to;  ///< nothing: the end is not given, or names nothing (see broken)
    std::string fromPort, toPort;           ///< `from_port`, `to_port`; empty: any
    bool broken = false;                    ///< an end is given and leads nowhere
};

/// All links of a design in tree order. O(components + links × depth × siblings named), linear with an index of names.
std::vector<LinkEnds> linkEnds(const Component& root);
/// What `from` or `to` of a link in `parent` must say to mean `end`; nothing unless `end` lies inside `parent`.
std::optional<std::string> endText(const Component& root, const ComponentPath& parent, const ComponentPath& end);
/// The innermost component that contains both: where a link between them stands.
ComponentPath commonParent(const ComponentPath& a, const ComponentPath& b);
/// The ports that a new link begins and ends at; empty: any.
struct LinkPorts {
    std::string from, to;
};
/// A new link between two components, with the place where it belongs and a free name (`gpu0-gpu1`). Fails unless they
/// are two, neither inside the other, and neither a link or a topology.
struct NewLink {
    ComponentPath parent;
    Component link;
};
Expected<NewLink> makeLink(const Component& root, const ComponentPath& from, const ComponentPath& to,
                           const LinkPorts& ports = {});

}  // namespace orrery
