#include "hardware/edit/difference.h"

#include "hardware/attributes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace orrery {
namespace {

using What = Difference::What;

/// Values as people read them, tables row by row; the order is that of `names`.
using Values = std::map<std::string, std::string>;

Values valuesOf(const Component& component) {
    Values values;
    if (component.count != 1) values["count"] = fmt::format("{}", component.count);
    if (!component.mesh.empty()) values["mesh"] = fmt::format("{}", fmt::join(component.mesh, "×"));
    for (const Attribute& attribute : component.attributes) {
        if (attribute.name == "source" || attribute.name == "note") continue;
        if (const auto* rows = std::get_if<std::vector<TableRow>>(&attribute.value)) {
            for (const TableRow& row : *rows) {
                values[attribute.name + "." + row.key] = toText(Attribute::Value(row.value));
            }
        } else {
            values[attribute.name] = toText(attribute.value);
        }
    }
    return values;
}

bool sameNumbers(const Component& a, const Component& b) {
    return a.kind == b.kind && a.count == b.count && a.mesh == b.mesh &&
           std::ranges::equal(a.attributes, b.attributes, [](const Attribute& x, const Attribute& y) {
               return x.name == y.name && x.value == y.value;
           });
}

/// Equal but for the name of the component itself.
bool sameContent(const Component& a, const Component& b) {
    return sameNumbers(a, b) && std::ranges::equal(a.children, b.children, [](const Component& x, const Component& y) {
               return nameOf(x) == nameOf(y) && sameContent(x, y);
           });
}

struct Left {
    const Component* component;
    ComponentPath path;
};

class Comparison {
public:
    std::vector<Difference> run(const Component& before, const Component& after) {
        ComponentPath a, b;
        match(before, a, after, b);
        // What is compared as one part may hold further parts that are called otherwise.
        do matchLeftOvers();
        while (matchRoles(before, after));
        for (const Left& left : removed_) found_.push_back({What::Removed, left.path, {}, {}, {}, {}});
        for (const Left& left : added_) found_.push_back({What::Added, {}, left.path, {}, {}, {}});
        return std::move(found_);
    }

private:
    void match(const Component& before, ComponentPath& a, const Component& after, ComponentPath& b) {
        compare(before, a, after, b);
        counterpart_[a] = b;
        // Of several siblings with one name, the first goes with the first.
        std::unordered_map<std::string_view, std::vector<int>> byName;
        for (int i = static_cast<int>(after.children.size()) - 1; i >= 0; --i) {
            byName[nameOf(after.children[static_cast<std::size_t>(i)])].push_back(i);
        }
        std::vector<bool> met(after.children.size());
        for (int i = 0; i < static_cast<int>(before.children.size()); ++i) {
            const Component& child = before.children[static_cast<std::size_t>(i)];
            a.push_back(i);
            auto& namesakes = byName[nameOf(child)];
            const int there = namesakes.empty() ? -1 : namesakes.back();
            if (there >= 0 && after.children[static_cast<std::size_t>(there)].kind == child.kind) {
                namesakes.pop_back();
                met[static_cast<std::size_t>(there)] = true;
                b.push_back(there);
                match(child, a, after.children[static_cast<std::size_t>(there)], b);
                b.pop_back();
            } else {
                removed_.push_back({&child, a});
            }
            a.pop_back();
        }
        for (int i = 0; i < static_cast<int>(after.children.size()); ++i) {
            if (met[static_cast<std::size_t>(i)]) continue;
            b.push_back(i);
            added_.push_back({&after.children[static_cast<std::size_t>(i)], b});
            b.pop_back();
        }
    }

    void compare(const Component& before, const ComponentPath& a, const Component& after, const ComponentPath& b) {
        if (sameNumbers(before, after)) return;
        const Values was = valuesOf(before), is = valuesOf(after);
        Values all = was;
        all.insert(is.begin(), is.end());
        for (const auto& [name, unused] : all) {
            const auto from = was.find(name), to = is.find(name);
            const bool one = name == "count";  // not given: one
            const std::string none = one ? "1" : "–";
            const std::string left = from == was.end() ? none : from->second;
            const std::string right = to == is.end() ? none : to->second;
            if (left != right) found_.push_back({What::Changed, a, b, name, left, right});
        }
    }

    // The same thing under another name beside it, else somewhere else.
    void matchLeftOvers() {
        for (const bool siblings : {true, false}) {
            std::erase_if(removed_, [&](const Left& gone) {
                const auto same = std::ranges::find_if(added_, [&](const Left& come) {
                    const bool beside = gone.path.size() == come.path.size() &&
                                        std::equal(gone.path.begin(), gone.path.end() - 1, come.path.begin());
                    return beside == siblings && (siblings || nameOf(*gone.component) == nameOf(*come.component)) &&
                           sameContent(*gone.component, *come.component);
                });
                if (same == added_.end()) return false;
                found_.push_back({siblings ? What::Renamed : What::Moved,
                                  gone.path,
                                  same->path,
                                  {},
                                  std::string(nameOf(*gone.component)),
                                  std::string(nameOf(*same->component))});
                added_.erase(same);
                return true;
            });
        }
    }

    // The first left-over of a kind inside a part goes with the first of that kind inside its counterpart, and so on:
    // two designs that call their memory or their package otherwise are compared number by number.
    bool matchRoles(const Component& before, const Component& after) {
        const std::vector<Left> gone = std::exchange(removed_, {});
        bool any = false;
        for (const Left& left : gone) {
            const auto parent = counterpart_.find(ComponentPath(left.path.begin(), left.path.end() - 1));
            const auto same = std::ranges::find_if(added_, [&](const Left& come) {
                return parent != counterpart_.end() && come.component->kind == left.component->kind &&
                       come.path.size() == parent->second.size() + 1 &&
                       std::equal(parent->second.begin(), parent->second.end(), come.path.begin());
            });
            if (same == added_.end()) {
                removed_.push_back(left);
                continue;
            }
            ComponentPath a = left.path, b = same->path;
            added_.erase(same);
            match(*componentAt(before, a), a, *componentAt(after, b), b);
            any = true;
        }
        return any;
    }

    std::vector<Difference> found_;
    std::vector<Left> removed_, added_;
    std::map<ComponentPath, ComponentPath> counterpart_;  ///< of parts that are compared
};

std::string described(const Component& root, const std::optional<ComponentPath>& path) {
    const Component* component = path ? componentAt(root, *path) : nullptr;
    if (!component) return "–";
    std::string kind(label(component->kind));
    if (kind.size() > 1 && kind[1] >= 'a') kind[0] = static_cast<char>(std::tolower(kind[0]));
    return fmt::format("{} {}", kind, nameOf(*component));
}

std::string parentName(const Component& root, const ComponentPath& path) {
    return std::string(nameOf(*componentAt(root, ComponentPath(path.begin(), path.end() - 1))));
}

}  // namespace

std::vector<Difference> differences(const Component& before, const Component& after) {
    return Comparison().run(before, after);
}

std::string toText(const Component& before, const Component& after, const Difference& difference) {
    switch (difference.what) {
        case What::Added:
            return "added " + described(after, difference.after);
        case What::Removed:
            return "removed " + described(before, difference.before);
        case What::Renamed:
            return fmt::format("{} is called {}", described(before, difference.before), difference.to);
        case What::Moved:
            return fmt::format("{} moved from {} to {}", described(before, difference.before),
                               parentName(before, *difference.before), parentName(after, *difference.after));
        case What::Changed:
            break;
    }
    const auto called = [](const Component& root, const std::optional<ComponentPath>& path) {
        const Component* component = path ? componentAt(root, *path) : nullptr;
        return std::string(component ? nameOf(*component) : std::string_view());
    };
    std::string name = called(after, difference.after);
    if (const std::string was = called(before, difference.before); was != name)
        name = fmt::format("{} → {}:", was, name);
    std::string attribute = difference.attribute;
    std::ranges::replace(attribute, '_', ' ');
    // A unit that both share is said once.
    const auto fromUnit = difference.from.find(' '), toUnit = difference.to.find(' ');
    const bool shared = fromUnit != std::string::npos && toUnit != std::string::npos &&
                        difference.from.substr(fromUnit) == difference.to.substr(toUnit);
    return fmt::format("{} {} {} → {}", name, attribute, shared ? difference.from.substr(0, fromUnit) : difference.from,
                       difference.to);
}

}  // namespace orrery
