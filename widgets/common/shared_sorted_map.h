#pragma once

// A sorted map from text whose copies share what they have in common: it lies in runs of neighbouring entries, a copy
// costs one pointer per run, and a change copies one run. For values that are kept as they were, such as states of an
// undo list.

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orrery::ui {

/// The interface is that of std::map<std::string, Value, std::less<>> as far as it goes; iterators are const, survive
/// changes of values and no others.
template <class Value>
class SharedSortedMap {
public:
    using value_type = std::pair<std::string, Value>;

    class const_iterator {
    public:
        using value_type = SharedSortedMap::value_type;
        using difference_type = std::ptrdiff_t;
        using reference = const value_type&;
        using pointer = const value_type*;
        using iterator_category = std::forward_iterator_tag;

        const_iterator() = default;
        reference operator*() const { return (*map_->runs_[run_])[at_]; }
        pointer operator->() const { return &**this; }
        const_iterator& operator++() {
            if (++at_ == map_->runs_[run_]->size()) ++run_, at_ = 0;
            return *this;
        }
        const_iterator operator++(int) { return std::exchange(*this, std::next(*this)); }
        bool operator==(const const_iterator&) const = default;

    private:
        friend class SharedSortedMap;
        const_iterator(const SharedSortedMap* map, std::size_t run, std::size_t at) : map_(map), run_(run), at_(at) {}
        const SharedSortedMap* map_ = nullptr;
        std::size_t run_ = 0, at_ = 0;
    };
    using iterator = const_iterator;

    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    const_iterator begin() const { return {this, 0, 0}; }
    const_iterator end() const { return {this, runs_.size(), 0}; }

    const_iterator lower_bound(std::string_view key) const {
        const auto run =
            std::partition_point(runs_.begin(), runs_.end(), [&](const RunPtr& r) { return r->back().first < key; });
        if (run == runs_.end()) return end();
        const auto at =
            std::partition_point((*run)->begin(), (*run)->end(), [&](const value_type& e) { return e.first < key; });
        return {this, std::size_t(run - runs_.begin()), std::size_t(at - (*run)->begin())};
    }
    const_iterator find(std::string_view key) const {
        const auto at = lower_bound(key);
        return at != end() && at->first == key ? at : end();
    }
    bool contains(std::string_view key) const { return find(key) != end(); }

    /// The value of a key, made if it is not there. The reference is good until the map is copied or changed.
    Value& operator[](std::string_view key) {
        const auto found = lower_bound(key);
        if (found != end() && found->first == key) return own(found.run_)[found.at_].second;
        ++size_;
        if (runs_.empty()) runs_.push_back(std::make_shared<Run>());
        // Beyond the last entry: at the end of the last run.
        std::size_t run = found.run_, at = found.at_;
        if (run == runs_.size()) --run, at = runs_[run]->size();
        Run& entries = own(run);
        entries.insert(entries.begin() + std::ptrdiff_t(at), value_type(std::string(key), Value{}));
        if (entries.size() <= most) return entries[at].second;
        const auto half = entries.size() / 2;
        auto second = std::make_shared<Run>(std::make_move_iterator(entries.begin() + std::ptrdiff_t(half)),
                                            std::make_move_iterator(entries.end()));
        entries.resize(half);
        Value& made = at < half ? entries[at].second : (*second)[at - half].second;
        runs_.insert(runs_.begin() + std::ptrdiff_t(run) + 1, std::move(second));
        return made;
    }
    /// Keeps what is there.
    void insert(value_type entry) {
        if (!contains(entry.first)) (*this)[entry.first] = std::move(entry.second);
    }
    void assign(const_iterator at, Value value) { own(at.run_)[at.at_].second = std::move(value); }
    /// Returns what followed.
    const_iterator erase(const_iterator at) {
        Run& entries = own(at.run_);
        entries.erase(entries.begin() + std::ptrdiff_t(at.at_));
        --size_;
        if (entries.empty()) {
            runs_.erase(runs_.begin() + std::ptrdiff_t(at.run_));
            return {this, at.run_, 0};
        }
        return at.at_ < entries.size() ? at : const_iterator(this, at.run_ + 1, 0);
    }
    std::size_t erase(std::string_view key) {
        const auto at = find(key);
        if (at == end()) return 0;
        erase(at);
        return 1;
    }

    /// Calls visit(key, value before or null, value after or null) for every entry in which two maps differ, in order.
    /// What they share is not looked at.
    template <class Visit>
    static void differences(const SharedSortedMap& before, const SharedSortedMap& after, Visit&& visit) {
        auto old = before.begin(), now = after.begin();
        while (old != before.end() || now != after.end()) {
            if (old.at_ == 0 && now.at_ == 0 && old != before.end() && now != after.end() &&
                before.runs_[old.run_] == after.runs_[now.run_]) {
                ++old.run_, ++now.run_;
                continue;
            }
            const int order = old == before.end() ? 1 : now == after.end() ? -1 : old->first.compare(now->first);
            if (order < 0) {
                visit(old->first, &old->second, static_cast<const Value*>(nullptr));
            } else if (order > 0) {
                visit(now->first, static_cast<const Value*>(nullptr), &now->second);
            } else if (!(old->second == now->second)) {
                visit(now->first, &old->second, &now->second);
            }
            if (order <= 0) ++old;
            if (order >= 0) ++now;
        }
    }
    bool operator==(const SharedSortedMap& other) const {
        if (size_ != other.size_) return false;
        bool same = true;
        differences(*this, other, [&same](const auto&...) { same = false; });
        return same;
    }

private:
    using Run = std::vector<value_type>;
    using RunPtr = std::shared_ptr<Run>;
    static constexpr std::size_t most = 128;  ///< entries of a run

    Run& own(std::size_t run) {
        RunPtr& entries = runs_[run];
        if (entries.use_count() > 1) entries = std::make_shared<Run>(*entries);
        return *entries;
    }

    std::vector<RunPtr> runs_;  ///< sorted, none empty
    std::size_t size_ = 0;
};

}  // namespace orrery::ui
