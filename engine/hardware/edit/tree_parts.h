#pragma once

// The bench on which tree_edit.cpp takes a design apart: components with an identity and a parent, links with pointers
// to what they mean. Whatever is moved, renamed or taken away, finish() writes the ends of links anew. Internal.

#include "hardware/edit/tree_edit.h"

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace orrery::tree {

struct Part {
    Component self;  ///< without its children
    int id = -1;     ///< number in tree order before the edit; -1: new
    Part* parent = nullptr;
    std::vector<std::unique_ptr<Part>> children;
    Part *from = nullptr, *to = nullptr;  ///< of a link: what its ends mean; null: not given, or nothing
    bool tight = false;                   ///< of a link: stands in the innermost component that holds both ends
    bool gone = false;
};
using PartPtr = std::unique_ptr<Part>;

/// Whether `outer` is an ancestor of `inner`, not the same.
bool contains(const Part* outer, const Part* inner);
/// `name`, or what follows it, that is not in `taken`.
std::string freeName(std::string_view name, ComponentKind kind, const std::unordered_set<std::string>& taken);
/// Text of an attribute `from` or `to`.
std::string endOf(const Component& link, std::string_view end);

class Bench {
public:
    explicit Bench(Hardware design);

    Part* root() { return root_.get(); }
    Part* at(const ComponentPath& path);
    /// The components named, in tree order, without those inside others of them; fails for the root, for a path that
    /// leads nowhere and for none at all.
    Expected<std::vector<Part*>> all(const ComponentPaths& paths);
    static int indexOf(const Part* part);

    PartPtr take(Part* part);                               ///< out of the tree
    Part* put(Part* parent, PartPtr part, int index = -1);  ///< into it, under a name that is free there
    void discard(Part* part);                               ///< and what is in it; links to it go along
    static PartPtr copyOf(const Part& part);                ///< new, with all inside; ends of its own are not set
    static PartPtr fromComponent(Component component);      ///< new
    /// What a path of names from below `parent` means: the first of that name at each level, links never.
    Part* resolve(Part* parent, std::string_view names);
    std::string freeName(Part* parent, std::string_view name, ComponentKind kind);
    void rename(Part* part, std::string name);

    /// Puts the design together again. Fails if it would be deeper than a file may be.
    Expected<TreeEdit> finish(const std::vector<Part*>& made);

private:
    struct Family {
        std::unordered_map<std::string, Part*> first;  ///< by name, links left out
        std::unordered_set<std::string> names;
    };
    Family& family(Part* parent);
    void number(Part* part);
    void host(Part* link);
    void writeEnd(Part* link, Part* target, std::string_view end);

    Hardware design_;
    PartPtr root_;
    std::vector<std::vector<int>> shape_;  ///< ids of the children of each id, before the edit
    std::vector<Part*> parts_;             ///< by id
    std::vector<PartPtr> discarded_;
    std::unordered_map<Part*, Family> families_;
};

}  // namespace orrery::tree
