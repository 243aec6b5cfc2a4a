#include "hardware/edit/tree_parts.h"

#include "hardware/check/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace orrery::tree {
namespace {

constexpr std::size_t deepest = 30;  // as in validate(): a file can be nested no deeper

PartPtr take(Component component) {
    auto part = std::make_unique<Part>();
    std::vector<Component> children = std::move(component.children);
    component.children.clear();
    part->self = std::move(component);
    part->children.reserve(children.size());
    for (Component& child : children) {
        part->children.push_back(take(std::move(child)));
        part->children.back()->parent = part.get();
    }
    return part;
}

Component together(Part& part) {
    Component component = std::move(part.self);
    component.children.reserve(part.children.size());
    for (const PartPtr& child : part.children) component.children.push_back(together(*child));
    return component;
}

void markGone(Part& part) {
    part.gone = true;
    for (const PartPtr& child : part.children) markGone(*child);
}

void collectLinks(Part* part, std::vector<Part*>& into) {
    for (const PartPtr& child : part->children) {
        if (child->self.kind == ComponentKind::Link) into.push_back(child.get());
        collectLinks(child.get(), into);
    }
}

std::size_t depthBelow(const Part& part) {
    std::size_t depth = 0;
    for (const PartPtr& child : part.children) depth = std::max(depth, 1 + depthBelow(*child));
    return depth;
}

// The innermost component that holds all ends that a link has, as far out as links may stand.
Part* homeOf(const Part& link) {
    Part* home = link.from ? link.from->parent : link.to->parent;
    const Part* other = link.from && link.to ? link.to : nullptr;
    while (home->parent && ((other && !contains(home, other)) || !mayContain(home->self.kind, ComponentKind::Link))) {
        home = home->parent;
    }
    return home;
}

void setEnd(Component& link, std::string_view end, std::string text) {
    if (Attribute* attribute = link.find(end)) {
        attribute->value = std::move(text);
    } else {
        link.attributes.push_back({std::string(end), std::move(text), {}, {}});
    }
}

/// Which way everything has gone: by id, the parent and the place in it.
struct Moves {
    std::vector<std::vector<int>> shape;
    std::vector<ComponentPath> now;
    std::vector<bool> stays;
};

void follow(const Part& part, ComponentPath& path, Moves& moves) {
    if (part.id >= 0) {
        moves.now[static_cast<std::size_t>(part.id)] = path;
        moves.stays[static_cast<std::size_t>(part.id)] = true;
    }
    for (std::size_t i = 0; i < part.children.size(); ++i) {
        path.push_back(static_cast<int>(i));
        follow(*part.children[i], path, moves);
        path.pop_back();
    }
}

}  // namespace

bool contains(const Part* outer, const Part* inner) {
    for (const Part* at = inner->parent; at; at = at->parent) {
        if (at == outer) return true;
    }
    return false;
}

std::string endOf(const Component& link, std::string_view end) {
    const Attribute* found = link.find(end);
    const std::string* text = found ? std::get_if<std::string>(&found->value) : nullptr;
    return text ? *text : std::string();
}

// `gpu8` follows `gpu7` where numbers count things (a neighbouring number stands beside it); `l2` and `hbm3` are names
// of their own, and so are those of links, which say what they join.
std::string freeName(std::string_view name, ComponentKind kind, const std::unordered_set<std::string>& taken) {
    using enum ComponentKind;
    if (!taken.contains(std::string(name))) return std::string(name);
    const auto digits = name.find_last_not_of("0123456789") + 1;
    std::string stem(name.substr(0, digits));
    std::int64_t number = 1;
    if (digits < name.size()) {
        const bool read = name.size() - digits < 10 &&
                          std::from_chars(&name[digits], name.data() + name.size(), number).ec == std::errc();
        const auto beside = [&](std::int64_t n) { return taken.contains(fmt::format("{}{}", stem, n)); };
        const bool level = kind == Cache || kind == Buffer || kind == RegisterFile || kind == Link;
        const bool counts = read && !stem.empty() &&
                            (stem.ends_with('_') || taken.contains(stem) ||
                             (!level && (number == 0 || beside(number - 1) || beside(number + 1))));
        if (!counts) {
            stem = std::string(name) + "_";
            number = 1;
        }
    }
    for (;;) {
        std::string candidate = fmt::format("{}{}", stem, ++number);
        if (!taken.contains(candidate)) return candidate;
    }
}

Bench::Bench(Hardware design) : design_(std::move(design)) {
    root_ = tree::take(std::move(design_.root));
    number(root_.get());
    std::vector<Part*> links;
    collectLinks(root_.get(), links);
    for (Part* link : links) {
        link->from = resolve(link->parent, endOf(link->self, "from"));
        link->to = resolve(link->parent, endOf(link->self, "to"));
        if (link->from && link->to) link->tight = homeOf(*link) == link->parent;
    }
}

void Bench::number(Part* part) {
    part->id = static_cast<int>(parts_.size());
    parts_.push_back(part);
    shape_.emplace_back();
    for (const PartPtr& child : part->children) {
        number(child.get());
        shape_[static_cast<std::size_t>(part->id)].push_back(child->id);
    }
}

Part* Bench::at(const ComponentPath& path) {
    Part* at = root_.get();
    for (const int index : path) {
        if (index < 0 || index >= static_cast<int>(at->children.size())) return nullptr;
        at = at->children[static_cast<std::size_t>(index)].get();
    }
    return at;
}

Expected<std::vector<Part*>> Bench::all(const ComponentPaths& paths) {
    std::vector<Part*> found;
    for (const ComponentPath& path : paths) {
        Part* part = at(path);
        if (!part) {
            return fail("document.no-component", "the component is no longer in the design",
                        "a component of " + design_.name, "select it again");
        }
        if (part == root_.get()) {
            return fail("document.root", "the system itself can neither be moved nor removed", "components inside it",
                        "to remove it, remove the design from the project");
        }
        found.push_back(part);
    }
    if (found.empty()) return fail("document.nothing", "nothing is selected", "one component or more");
    std::ranges::sort(found, {}, &Part::id);
    found.erase(std::ranges::unique(found).begin(), found.end());
    const std::unordered_set<const Part*> chosen(found.begin(), found.end());
    std::erase_if(found, [&](const Part* part) {
        for (const Part* up = part->parent; up; up = up->parent) {
            if (chosen.contains(up)) return true;
        }
        return false;
    });
    return found;
}

int Bench::indexOf(const Part* part) {
    const auto& siblings = part->parent->children;
    return static_cast<int>(std::ranges::find(siblings, part, &PartPtr::get) - siblings.begin());
}

Bench::Family& Bench::family(Part* parent) {
    const auto [at, isNew] = families_.try_emplace(parent);
    if (isNew) {
        for (const PartPtr& child : parent->children) {
            std::string name(nameOf(child->self));
            if (child->self.kind != ComponentKind::Link) at->second.first.try_emplace(name, child.get());
            at->second.names.insert(std::move(name));
        }
    }
    return at->second;
}

Part* Bench::resolve(Part* parent, std::string_view names) {
    if (names.empty()) return nullptr;
    while (parent) {
        const auto slash = names.find('/');
        const auto& known = family(parent).first;
        const auto found = known.find(std::string(names.substr(0, slash)));
        if (found == known.end()) return nullptr;
        parent = found->second;
        if (slash == std::string_view::npos) return parent;
        names.remove_prefix(slash + 1);
    }
    return nullptr;
}

std::string Bench::freeName(Part* parent, std::string_view name, ComponentKind kind) {
    return tree::freeName(name, kind, family(parent).names);
}

void Bench::rename(Part* part, std::string name) {
    part->self.name = std::move(name);
    families_.erase(part->parent);
}

PartPtr Bench::take(Part* part) {
    auto& siblings = part->parent->children;
    const auto at = siblings.begin() + indexOf(part);
    PartPtr taken = std::move(*at);
    siblings.erase(at);
    families_.erase(part->parent);
    taken->parent = nullptr;
    return taken;
}

Part* Bench::put(Part* parent, PartPtr part, int index) {
    Family& names = family(parent);
    if (names.names.contains(std::string(nameOf(part->self)))) {
        part->self.name = tree::freeName(nameOf(part->self), part->self.kind, names.names);
    }
    names.names.insert(std::string(nameOf(part->self)));
    if (part->self.kind != ComponentKind::Link) names.first.try_emplace(std::string(nameOf(part->self)), part.get());
    part->parent = parent;
    auto& siblings = parent->children;
    if (index < 0 || index > static_cast<int>(siblings.size())) index = static_cast<int>(siblings.size());
    return siblings.insert(siblings.begin() + index, std::move(part))->get();
}

void Bench::discard(Part* part) {
    markGone(*part);
    discarded_.push_back(take(part));
}

PartPtr Bench::copyOf(const Part& part) {
    auto copy = std::make_unique<Part>();
    copy->self = part.self;
    for (const PartPtr& child : part.children) {
        copy->children.push_back(copyOf(*child));
        copy->children.back()->parent = copy.get();
    }
    return copy;
}

PartPtr Bench::fromComponent(Component component) {
    return tree::take(std::move(component));
}

void Bench::host(Part* link) {
    if (!link->from && !link->to) return;
    const bool holds =
        (!link->from || contains(link->parent, link->from)) && (!link->to || contains(link->parent, link->to));
    Part* home = holds && !link->tight ? link->parent : homeOf(*link);
    if (home != link->parent) put(home, take(link));
}

void Bench::writeEnd(Part* link, Part* target, std::string_view end) {
    if (!target) return;
    std::string text;
    for (Part* at = target; at != link->parent; at = at->parent) {
        // A namesake before it would be meant instead. Links are never meant, even if something wrongly stands in one.
        const auto& first = family(at->parent).first;
        const auto meant = first.find(std::string(nameOf(at->self)));
        if (meant != first.end() && meant->second != at) {
            rename(at, freeName(at->parent, nameOf(at->self), at->self.kind));
        }
        text.insert(0, text.empty() ? std::string(nameOf(at->self)) : std::string(nameOf(at->self)) + "/");
    }
    if (text != endOf(link->self, end)) setEnd(link->self, end, std::move(text));
}

Expected<TreeEdit> Bench::finish(const std::vector<Part*>& made) {
    families_.clear();  // names stand for the first of their siblings, and the order may have changed
    std::vector<Part*> links;
    collectLinks(root_.get(), links);
    for (Part* link : links) {
        if ((link->from && link->from->gone) || (link->to && link->to->gone)) {
            discard(link);
        } else {
            host(link);
        }
    }
    families_.clear();
    // Twice: an end that got another name may stand on the way to one that was written already.
    for (int pass = 0; pass < 2; ++pass) {
        for (Part* link : links) {
            if (link->gone) continue;
            writeEnd(link, link->from, "from");
            writeEnd(link, link->to, "to");
        }
    }
    if (depthBelow(*root_) > deepest) {
        return fail("hardware.too-deep", fmt::format("components would be nested more than {} deep", deepest),
                    fmt::format("at most {} levels", deepest), "use `count` and `mesh` instead of nesting");
    }
    auto moves = std::make_shared<Moves>();
    moves->shape = std::move(shape_);
    moves->now.resize(parts_.size());
    moves->stays.resize(parts_.size());
    ComponentPath path;
    follow(*root_, path, *moves);
    TreeEdit edit;
    for (const Part* part : made) {
        if (part->gone) continue;
        ComponentPath to;
        for (const Part* at = part; at->parent; at = at->parent) to.push_back(indexOf(at));
        std::ranges::reverse(to);
        edit.made.push_back(std::move(to));
    }
    design_.root = together(*root_);
    edit.design = std::move(design_);
    edit.moved = [moves](const ComponentPath& before) -> std::optional<ComponentPath> {
        std::size_t id = 0;
        for (const int index : before) {
            const std::vector<int>& children = moves->shape[id];
            if (index < 0 || index >= static_cast<int>(children.size())) return std::nullopt;
            id = static_cast<std::size_t>(children[static_cast<std::size_t>(index)]);
        }
        return moves->stays[id] ? std::optional(moves->now[id]) : std::nullopt;
    };
    return edit;
}

}  // namespace orrery::tree
