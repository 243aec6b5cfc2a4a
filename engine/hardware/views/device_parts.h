#pragma once

// A device taken apart, the ground of every view: its parts with how many there are and which clock runs them, alike
// siblings folded into one, and a note of every attribute that is read.

#include "base/diagnostic.h"
#include "base/quantity.h"
#include "hardware/views/device_ref.h"
#include "hardware/views/parts_read.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::detail {

/// Without a note: what is read through DeviceParts is noted.
const Measure* measureOf(const Component& component, std::string_view attribute);
bool computes(ComponentKind kind);   ///< a unit that does arithmetic
bool remembers(ComponentKind kind);  ///< a memory
bool containsCompute(const Component& component);
/// An `array`, or a `tensor_unit` with a dataflow: one without is of a GPU, takes whole fragments and is no array to
/// map onto.
bool isArray(const Component& component);
bool holdsArray(const Component& component);
/// Equal for components that differ in nothing that performance depends on: not in names, sources, notes, order,
/// number of copies, nor in how copies are written inside (`count: 2` or two of it). Ends of links do not matter
/// either.
std::uint64_t alikeHash(const Component& component);

/// A component with what its surroundings add; or several that are alike and stand beside each other, as one with
/// copies.
struct Part {
    struct Member {
        const Component* component = nullptr;
        ComponentPath place;         ///< in the design
        std::int64_t instances = 1;  ///< over the device
    };
    const Component* component = nullptr;  ///< the first member
    int parent = -1;                       ///< index of the part that contains it; -1: the design's root
    std::string path;                      ///< of the first member
    std::int64_t instances = 1;            ///< over the device, of all members; the device itself is 1
    Hertz clock;                           ///< its own or the nearest one further out; 0 if there is none
    int clockFrom = -1;                    ///< index of the part that states it
    std::vector<Member> members;
};

class DeviceParts {
public:
    /// Fails with `hardware.no-device` if the reference leads nowhere.
    static Expected<DeviceParts> of(const DeviceRef& device);

    std::span<const Part> around() const { return all().first(device_); }  ///< root first, up to the device's parent
    std::span<const Part> inside() const {
        return all().subspan(device_, inside_);
    }  ///< the device first, parents first
    const Part& device() const { return parts_[device_]; }
    const Part& at(int index) const { return parts_[static_cast<std::size_t>(index)]; }
    int indexOf(const Part& part) const { return static_cast<int>(&part - parts_.data()); }
    const Part* parentOf(const Part& part) const { return part.parent < 0 ? nullptr : &at(part.parent); }
    /// Whether `outer` contains `part`, or is it.
    bool contains(const Part& outer, const Part& part) const;
    bool holdsDram() const;
    /// Whether there are more of `a` than of `b`; of equally many, an answer that does not hang on the order of
    /// siblings.
    bool isMore(const Part& a, const Part& b) const;
    /// Memories beside the device, then beside each component around it, up to the first place that holds a DRAM; those
    /// without a clock run at `clock`. References to parts are void after the first call.
    std::span<const Part> outside(Hertz clock, int clockFrom);
    std::span<const Part> outside() const { return all().subspan(device_ + inside_, outside_); }

    // Reading: what is there is noted.
    const Attribute* find(const Part& part, std::string_view attribute);
    const Measure* measure(const Part& part, std::string_view attribute);
    double measureOr(const Part& part, std::string_view attribute, double fallback);
    const std::string* text(const Part& part, std::string_view attribute);
    const std::vector<std::string>* list(const Part& part, std::string_view attribute);
    const std::vector<TableRow>* table(const Part& part, std::string_view attribute);
    /// The device's own attribute, else that of the nearest component around it: a die is of its package's platform.
    const Attribute* stated(std::string_view attribute);
    const Measure* statedMeasure(std::string_view attribute);
    /// Fails with `hardware.no-clock` if a per-cycle number stands on a part without a clock.
    Expected<double> perSecond(const Part& part, std::string_view attribute, const Measure& measure);
    Expected<Seconds> duration(const Part& part, std::string_view attribute, const Measure& measure);
    Hertz clockOf(const Part& part);
    void count(const Part& part);  ///< notes that the number of them matters
    void note(PartRead used);      ///< what was read elsewhere
    PartsRead used() const;

private:
    std::span<const Part> all() const { return parts_; }
    void gather(std::vector<Part::Member> members, int parent, Hertz clock, int clockFrom);
    void noteAttribute(int index, std::string_view attribute);

    DeviceRef ref_;
    std::vector<Part> parts_;
    std::size_t device_ = 0, inside_ = 0, outside_ = 0;
    // Units in a memory of a device that computes by itself too are no units of the device: pim_view.h reads them.
    bool memoryUnits_ = true;
    struct Note {
        bool counted = false;
        std::vector<std::string_view> attributes;  // names of literals and of the attribute table
    };
    std::vector<Note> notes_;
    PartsRead more_;
};

}  // namespace orrery::detail
