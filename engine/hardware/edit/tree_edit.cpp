#include "hardware/edit/tree_edit.h"

#include "hardware/edit/tree_parts.h"
#include "hardware/check/validate.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {
namespace {

using tree::Bench;
using tree::Part;
using tree::PartPtr;

constexpr std::int64_t mostCopies = std::int64_t{1} << 53;  // as in validate()

Expected<void> mayStand(const Component& parent, const Component& child) {
    if (mayContain(parent.kind, child.kind)) return {};
    return fail("hardware.nesting", fmt::format("a {} cannot be inside a {}", label(child.kind), label(parent.kind)),
                {}, "drop it on a component that may hold it");
}

Unexpected noSuch(const char* what) {
    return fail("document.no-component", fmt::format("the {} is no longer in the design", what), {}, "select it again");
}

bool isLink(const Part* part) {
    return part->self.kind == ComponentKind::Link;
}

/// Finds which of some components another one is, or lies in.
class Tops {
public:
    explicit Tops(const std::vector<Part*>& parts) {
        for (std::size_t i = 0; i < parts.size(); ++i) at_[parts[i]] = i;
    }
    std::optional<std::size_t> of(const Part* part) const {
        for (; part; part = part->parent) {
            if (const auto found = at_.find(part); found != at_.end()) return found->second;
        }
        return std::nullopt;
    }

private:
    std::unordered_map<const Part*, std::size_t> at_;
};

void collectLinks(Part* part, std::vector<Part*>& into) {
    for (const PartPtr& child : part->children) {
        if (isLink(child.get())) into.push_back(child.get());
        collectLinks(child.get(), into);
    }
}

/// Links outside of all these parts that join two of them.
std::vector<Part*> linksAmong(Part* root, const Tops& parts) {
    std::vector<Part*> found;
    collectLinks(root, found);
    std::erase_if(found, [&](const Part* link) {
        return !link->from || !link->to || !parts.of(link->from) || !parts.of(link->to) || parts.of(link);
    });
    return found;
}

/// What stands for `original` in the copy of `top`.
Part* counterpart(const Part* original, const Part* top, Part* copy) {
    if (original == top) return copy;
    Part* parent = counterpart(original->parent, top, copy);
    return parent->children[static_cast<std::size_t>(Bench::indexOf(original))].get();
}

// A link that is moved must be able to stand there: both of its ends are inside.
Expected<void> linksFit(const std::vector<Part*>& moved) {
    for (const Part* link : moved) {
        if (!isLink(link)) continue;
        const bool fits = (!link->from || tree::contains(link->parent, link->from)) &&
                          (!link->to || tree::contains(link->parent, link->to));
        if (!fits && std::ranges::all_of(moved, isLink)) {
            return fail("hardware.link-place",
                        fmt::format("the link {} joins components outside of {}", nameOf(link->self),
                                    nameOf(link->parent->self)),
                        "a place that contains both of its ends", "move the components; their links follow");
        }
    }
    return {};
}

}  // namespace

Expected<TreeEdit> renamed(Hardware design, const ComponentPath& path, std::string_view name) {
    if (name.empty() || name.find_first_of("/.") != std::string_view::npos) {
        return fail("document.name", "a component needs a name without / and .", "a short name like hbm3");
    }
    Bench bench(std::move(design));
    Part* part = bench.at(path);
    if (!part) return noSuch("component");
    if (part->parent) {
        for (const PartPtr& sibling : part->parent->children) {
            if (sibling.get() != part && nameOf(sibling->self) == name) {
                return fail("hardware.duplicate-name",
                            fmt::format("{} already has a {}", nameOf(part->parent->self), name),
                            "a name that no sibling has");
            }
        }
        bench.rename(part, std::string(name));
    } else {
        part->self.name = name;
    }
    return bench.finish({part});
}

Expected<TreeEdit> added(Hardware design, const ComponentPath& parent, std::vector<Component> parts) {
    if (parts.empty()) return fail("document.nothing", "there is nothing to add", "one component or more");
    Bench bench(std::move(design));
    Part* host = bench.at(parent);
    if (!host) return noSuch("place");
    std::vector<PartPtr> fresh;
    Part among;  // resolves the names that the parts have among themselves
    for (Component& component : parts) {
        if (auto may = mayStand(host->self, component); !may) return Unexpected(may.error());
        among.children.push_back(Bench::fromComponent(std::move(component)));
    }
    for (const PartPtr& part : among.children) {
        if (!isLink(part.get())) continue;
        for (const char* end : {"from", "to"}) {
            const std::string names = tree::endOf(part->self, end);
            Part* meant = bench.resolve(&among, names);
            if (!meant) meant = bench.resolve(host, names);
            (std::string_view(end) == "from" ? part->from : part->to) = meant;
        }
    }
    std::vector<Part*> made;
    for (PartPtr& part : among.children) made.push_back(bench.put(host, std::move(part)));
    return bench.finish(made);
}

Expected<TreeEdit> removed(Hardware design, const ComponentPaths& paths) {
    Bench bench(std::move(design));
    auto parts = bench.all(paths);
    if (!parts) return Unexpected(parts.error());
    for (Part* part : *parts) bench.discard(part);
    return bench.finish({});
}

Expected<TreeEdit> reparented(Hardware design, const ComponentPaths& paths, const ComponentPath& parent, int index) {
    Bench bench(std::move(design));
    auto parts = bench.all(paths);
    if (!parts) return Unexpected(parts.error());
    Part* host = bench.at(parent);
    if (!host) return noSuch("place");
    if (Tops(*parts).of(host)) {
        return fail("document.move", "a component cannot be moved into itself", "a place outside of it");
    }
    for (const Part* part : *parts) {
        if (auto may = mayStand(host->self, part->self); !may) return Unexpected(may.error());
    }
    int place =
        index < 0 ? static_cast<int>(host->children.size()) : std::min(index, static_cast<int>(host->children.size()));
    for (int before = place - 1; before >= 0; --before) {
        const Part* sibling = host->children[static_cast<std::size_t>(before)].get();
        if (std::ranges::find(*parts, sibling) != parts->end()) --place;
    }
    std::vector<PartPtr> taken;
    for (Part* part : *parts) {
        part->tight = false;
        taken.push_back(bench.take(part));
    }
    for (PartPtr& part : taken) bench.put(host, std::move(part), place++);
    if (auto fits = linksFit(*parts); !fits) return Unexpected(fits.error());
    return bench.finish(*parts);
}

Expected<TreeEdit> duplicated(Hardware design, const ComponentPaths& paths) {
    Bench bench(std::move(design));
    auto parts = bench.all(paths);
    if (!parts) return Unexpected(parts.error());
    std::vector<Part*> made;
    for (const Part* part : *parts) made.push_back(bench.put(part->parent, Bench::copyOf(*part)));
    const Tops tops(*parts);
    const auto copyFor = [&](Part* meant) {
        const auto top = tops.of(meant);
        return top ? counterpart(meant, (*parts)[*top], made[*top]) : meant;
    };
    for (std::size_t i = 0; i < parts->size(); ++i) {
        made[i]->from = copyFor((*parts)[i]->from);
        made[i]->to = copyFor((*parts)[i]->to);
    }
    for (Part* link : linksAmong(bench.root(), tops)) {
        Part* copy = bench.put(link->parent, Bench::copyOf(*link));
        copy->from = copyFor(link->from);
        copy->to = copyFor(link->to);
        made.push_back(copy);
    }
    return bench.finish(made);
}

Expected<TreeEdit> grouped(Hardware design, const ComponentPaths& paths, ComponentKind kind, std::string_view name) {
    Bench bench(std::move(design));
    auto parts = bench.all(paths);
    if (!parts) return Unexpected(parts.error());
    if (std::ranges::all_of(*parts, isLink)) {
        return fail("document.group", "links alone make no group", "components to put into it");
    }
    Part* parent = parts->front()->parent;
    Component container;
    container.kind = kind;
    container.name = name.empty() ? std::string(toText(kind)) : std::string(name);
    if (auto may = mayStand(parent->self, container); !may) return Unexpected(may.error());
    for (const Part* part : *parts) {
        if (part->parent != parent) {
            return fail("document.group", "the components have different parents", "components of one container",
                        "move them together first");
        }
        if (auto may = mayStand(container, part->self); !may) return Unexpected(may.error());
    }
    const int index = Bench::indexOf(parts->front());
    std::vector<PartPtr> taken;
    for (Part* part : *parts) taken.push_back(bench.take(part));
    Part* group = bench.put(parent, Bench::fromComponent(std::move(container)), index);
    for (PartPtr& part : taken) bench.put(group, std::move(part));
    return bench.finish({group});
}

Expected<TreeEdit> ungrouped(Hardware design, const ComponentPath& path) {
    Bench bench(std::move(design));
    auto parts = bench.all({path});
    if (!parts) return Unexpected(parts.error());
    Part* group = parts->front();
    Part* parent = group->parent;
    if (group->children.empty()) {
        return fail("document.ungroup", fmt::format("there is nothing inside {}", nameOf(group->self)),
                    "a component with others inside");
    }
    std::vector<Part*> made;
    for (const PartPtr& child : group->children) {
        Component& self = child->self;
        if (auto may = mayStand(parent->self, self); !may) return Unexpected(may.error());
        made.push_back(child.get());
        if (isLink(child.get())) continue;  // stands for each copy already
        if (self.mesh.empty() && group->self.count == 1) {
            self.mesh = group->self.mesh;
        } else if (__builtin_mul_overflow(self.count, group->self.instances(), &self.count) ||
                   self.count > mostCopies) {
            return fail("hardware.count-overflow", fmt::format("there would be too many {}", nameOf(self)),
                        "at most 2^53 copies");
        }
    }
    int index = Bench::indexOf(group);
    std::vector<PartPtr> taken;
    for (Part* child : made) taken.push_back(bench.take(child));
    bench.discard(group);
    for (PartPtr& child : taken) bench.put(parent, std::move(child), index++);
    return bench.finish(made);
}

Expected<TreeEdit> linked(Hardware design, const ComponentPath& from, const ComponentPath& to, const LinkPorts& ports) {
    auto made = makeLink(design.root, from, to, ports);
    if (!made) return Unexpected(made.error());
    std::vector<Component>& siblings = componentAt(design.root, made->parent)->children;
    ComponentPath path = std::move(made->parent);
    path.push_back(static_cast<int>(siblings.size()));
    siblings.push_back(std::move(made->link));
    // It stands last: all others keep their paths.
    return TreeEdit{
        std::move(design), {std::move(path)}, [](const ComponentPath& same) { return std::optional(same); }};
}

std::vector<Component> copied(const Hardware& design, const ComponentPaths& paths) {
    Bench bench(design);
    auto parts = bench.all(paths);
    if (!parts) return {};
    const std::vector<Part*> between = linksAmong(bench.root(), Tops(*parts));
    parts->insert(parts->end(), between.begin(), between.end());
    std::ranges::sort(*parts, {}, &Part::id);
    Component list;  // the copies stand side by side, under names of their own
    std::unordered_set<std::string> taken;
    for (const Part* part : *parts) {
        ComponentPath path;
        for (const Part* at = part; at->parent; at = at->parent) path.push_back(Bench::indexOf(at));
        std::ranges::reverse(path);
        Component copy = *componentAt(design.root, path);
        const std::string name = tree::freeName(nameOf(copy), copy.kind, taken);
        if (name != nameOf(copy)) copy.name = name;
        taken.insert(name);
        list.children.push_back(std::move(copy));
    }
    const Tops tops(*parts);
    for (std::size_t i = 0; i < parts->size(); ++i) {
        const Part* link = (*parts)[i];
        if (!isLink(link)) continue;
        for (const auto& [end, meant] : {std::pair("from", link->from), std::pair("to", link->to)}) {
            const auto top = tops.of(meant);
            if (!top) continue;
            std::string text;
            for (const Part* at = meant; at != (*parts)[*top]; at = at->parent) {
                text.insert(0, "/" + std::string(nameOf(at->self)));
            }
            text.insert(0, nameOf(list.children[*top]));
            list.children[i].find(end)->value = std::move(text);
        }
    }
    return std::move(list.children);
}

std::string freeChildName(const Component& parent, std::string_view name) {
    std::unordered_set<std::string> taken;
    ComponentKind kind = ComponentKind::System;
    for (const Component& child : parent.children) {
        taken.emplace(nameOf(child));
        if (nameOf(child) == name) kind = child.kind;
    }
    return tree::freeName(name, kind, taken);
}

}  // namespace orrery
