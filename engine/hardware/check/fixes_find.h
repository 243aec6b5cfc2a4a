#pragma once

// What the makers of fixes share: finding the place that a problem names, and the edits that fixes are made of.

#include "hardware/check/fixes.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace orrery::fixes {

struct Found {
    ComponentPath path;
    std::string attribute;  ///< `bandwidth`, `macs.bf16`; empty: the component itself
};
using Fixes = std::vector<Fix>;

/// The components that a place such as `system/h100/hbm3.bandwidth` may mean, the likeliest first; several where
/// siblings share a name.
std::vector<Found> find(const Component& root, const std::string& place);

Fix change(std::string title, ComponentPath path, std::function<void(Component&)> edit);
Fix set(std::string title, ComponentPath path, std::string attribute, std::string value);
Fix without(std::string title, ComponentPath path, std::string attribute);
Fix removeComponent(std::string title, ComponentPath path);
/// `l22` after `l2` without a digit rule of names: `gpu8` after `gpu7`, `hbm2` after `hbm`; not in `taken`.
std::string freeName(const std::set<std::string>& taken, const std::string& name);
std::set<std::string> namesIn(const Component& parent);
/// Whether checkNetworks() finds more errors of any code than before: such a fix is not offered.
bool worsens(const Component& before, const Component& after);

/// The outermost part around one that may have a clock, servers aside if another may; nothing where none may.
std::optional<ComponentPath> clockOwner(const Hardware& design, ComponentPath at);
/// The usual first guess, marked as unverified.
Attribute usualClock();

// Of numbers that nobody gave; fixes_numbers.cpp.
Fixes missingNumber(const Hardware& design, const Found& found, const Diagnostic& problem);
// Of links and switches; fixes_links.cpp.
Fixes linkNowhere(const Hardware& design, const Found& found, const Diagnostic& problem);
Fixes linkLoop(const Hardware& design, const Found& found, const Diagnostic& problem);
Fixes portUsed(const Hardware& design, const Found& found, const Diagnostic& problem);
Fixes ports(const Hardware& design, const Found& found, const Diagnostic& problem);
Fixes unlinkedMemory(const Hardware& design, const Found& found, const Diagnostic& problem);
Fixes disconnected(const Hardware& design, const Found& found, const Diagnostic& problem);
// Of topologies; fixes_topology.cpp.
Fixes topologySize(const Hardware& design, const Found& found, const Diagnostic& problem);
Fixes topologyRadix(const Hardware& design, const Found& found, const Diagnostic& problem);
Fixes missingAttribute(const Hardware& design, const Found& found, const Diagnostic& problem);
Fixes topologyEmpty(const Hardware& design, const Found& found, const Diagnostic& problem);

}  // namespace orrery::fixes
