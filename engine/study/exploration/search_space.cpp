#include "study/exploration/search_space.h"

#include "hardware/attribute_at.h"
#include "hardware/check/validate.h"
#include "workload/option_text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <unordered_map>

namespace orrery {

namespace {

// What many points need, by the part of a point's number that decides it. Forgotten all at once when it is full: points
// come in order or in clusters, so what is needed again soon was made lately.
template <class Value>
class Kept {
public:
    explicit Kept(std::size_t most) : most_(most) {}
    template <class Make>
    Value get(std::uint64_t key, Make make) {
        {
            const std::lock_guard lock(mutex_);
            if (const auto found = values_.find(key); found != values_.end()) return found->second;
        }
        Value made = make();
        const std::lock_guard lock(mutex_);
        if (values_.size() >= most_) values_.clear();
        return values_.try_emplace(key, std::move(made)).first->second;
    }

private:
    std::mutex mutex_;
    std::size_t most_;
    std::unordered_map<std::uint64_t, Value> values_;
};

}  // namespace

struct SearchSpace::Rows {
    std::vector<std::uint32_t> levels;        ///< [row × knobs + knob]
    std::vector<std::vector<double>> places;  ///< placeOf() each value of each knob
};

struct SearchSpace::Shared {
    std::vector<AttributeAt> at;  ///< of each knob of the hardware, empty for others
    Kept<Expected<HardwarePtr>> hardware{512};
    Kept<Expected<WorkloadPtr>> workload{64};
    Kept<Expected<Task>> task{64};
};

Expected<SearchSpace> SearchSpace::make(Scenario base, std::vector<Knob> knobs) {
    if (knobs.empty()) return fail("search.empty", "nothing may change", "at least one knob");
    SearchSpace space;
    space.shared_ = std::make_shared<Shared>();
    space.shared_->at.resize(knobs.size());
    for (std::size_t i = 0; i < knobs.size(); ++i) {
        const Knob& knob = knobs[i];
        if (space.points_ > mostPoints / knob.values.size()) {
            return fail("search.too-large", "the knobs have too many combinations",
                        fmt::format("at most {}", mostPoints), "give fewer values");
        }
        space.points_ *= knob.values.size();
        if (knob.of == KnobOf::Hardware) {
            auto at = attributeAt(base.hardware->root, knob.path);
            if (!at) return Unexpected(at.error());
            space.shared_->at[i] = std::move(*at);
        }
        for (std::size_t j = 0; j < i; ++j) {
            const bool same = knob.of == KnobOf::Hardware && knobs[j].of == KnobOf::Hardware
                                  ? space.shared_->at[i].component == space.shared_->at[j].component &&
                                        space.shared_->at[i].attribute == space.shared_->at[j].attribute
                                  : knob.path == knobs[j].path;
            if (same) return fail("search.twice", fmt::format("`{}` and `{}` turn the same", knobs[j].path, knob.path));
        }
    }
    space.base_ = std::move(base);
    space.knobs_ = std::move(knobs);
    return space;
}

Expected<SearchSpace> SearchSpace::ofColumns(std::vector<Knob> knobs) {
    return make(Scenario{}, std::move(knobs));
}

Expected<SearchSpace> SearchSpace::ofRows(std::vector<Knob> knobs, std::vector<std::uint32_t> levels) {
    if (knobs.empty()) return fail("search.empty", "nothing may change", "at least one knob");
    if (levels.empty()) return fail("search.empty", "no row is left", "at least one row");
    SearchSpace space;
    const std::size_t width = knobs.size();
    space.points_ = levels.size() / width;
    auto rows = std::make_shared<Rows>();
    for (const Knob& knob : knobs) {
        auto& places = rows->places.emplace_back();
        for (std::size_t level = 0; level < knob.values.size(); ++level) places.push_back(placeOf(knob, level));
    }
    std::map<std::vector<std::uint32_t>, std::size_t> seen;
    for (std::size_t row = 0; row < space.points_; ++row) {
        const auto own = levels.begin() + static_cast<std::ptrdiff_t>(row * width);
        const auto [at, isNew] = seen.emplace(std::vector(own, own + static_cast<std::ptrdiff_t>(width)), row);
        if (!isNew) return fail("search.twice", fmt::format("rows {} and {} are one point", at->second, row));
    }
    rows->levels = std::move(levels);
    space.knobs_ = std::move(knobs);
    space.rows_ = std::move(rows);
    return space;
}

std::vector<std::uint32_t> SearchSpace::levelsAt(std::uint64_t point) const {
    if (rows_) {
        const auto own = rows_->levels.begin() + static_cast<std::ptrdiff_t>(point * knobs_.size());
        return {own, own + static_cast<std::ptrdiff_t>(knobs_.size())};
    }
    std::vector<std::uint32_t> levels(knobs_.size());
    for (std::size_t i = knobs_.size(); i-- > 0;) {
        levels[i] = static_cast<std::uint32_t>(point % knobs_[i].values.size());
        point /= knobs_[i].values.size();
    }
    return levels;
}

std::vector<std::uint64_t> SearchSpace::nearest(std::span<const std::uint32_t> levels, std::size_t most,
                                                const std::function<bool(std::uint64_t)>& skip) const {
    std::vector<std::pair<double, std::uint64_t>> all;
    for (std::uint64_t row = 0; rows_ && row < points_; ++row) {
        if (skip && skip(row)) continue;
        double apart = 0;
        for (std::size_t k = 0; k < knobs_.size(); ++k) {
            const std::uint32_t own = rows_->levels[row * knobs_.size() + k];
            apart += knobs_[k].words ? (own == levels[k] ? 0.0 : 1.0)
                                     : std::abs(rows_->places[k][own] - rows_->places[k][levels[k]]);
        }
        all.emplace_back(apart, row);
    }
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(most, all.size()));
    std::partial_sort(all.begin(), end, all.end());
    std::vector<std::uint64_t> rows;
    for (auto each = all.begin(); each != end; ++each) rows.push_back(each->second);
    return rows;
}

std::optional<std::uint64_t> SearchSpace::exactly(std::span<const std::uint32_t> levels) const {
    const std::uint64_t point = pointAt(levels);
    if (rows_ && !std::ranges::equal(levelsAt(point), levels)) return std::nullopt;
    return point;
}

std::uint64_t SearchSpace::pointAt(std::span<const std::uint32_t> levels) const {
    if (rows_) return nearest(levels, 1).front();
    std::uint64_t point = 0;
    for (std::size_t i = 0; i < knobs_.size(); ++i) point = point * knobs_[i].values.size() + levels[i];
    return point;
}

std::uint64_t SearchSpace::basePoint() const {
    if (rows_) return 0;
    std::vector<std::uint32_t> levels;
    for (const Knob& knob : knobs_) {
        const std::string& own = knob.own;
        const auto same = std::find(knob.values.begin(), knob.values.end(), own);
        std::uint32_t level = same == knob.values.end() ? 0 : static_cast<std::uint32_t>(same - knob.values.begin());
        if (same == knob.values.end() && !knob.words) {
            if (const auto measure = parseMeasure(own, knob.dimension)) {
                const auto off = [&](double n) {
                    return knob.logarithmic ? std::abs(std::log(n / measure->si)) : std::abs(n - measure->si);
                };
                for (std::uint32_t i = 1; i < knob.numbers.size(); ++i)
                    if (off(knob.numbers[i]) < off(knob.numbers[level])) level = i;
            }
        }
        levels.push_back(level);
    }
    return pointAt(levels);
}

std::string SearchSpace::labelAt(std::uint64_t point) const {
    const auto levels = levelsAt(point);
    std::string text;
    for (std::size_t i = 0; i < knobs_.size(); ++i) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", knobs_[i].path, knobs_[i].values[levels[i]]);
    }
    return text;
}

Expected<Scenario> SearchSpace::scenarioAt(std::uint64_t point) const {
    if (rows_) return fail("search.table", "a row of a table is no design", "a question of knobs");
    const auto levels = levelsAt(point);
    std::uint64_t hardwareKey = 0, workloadKey = 0, taskKey = 0;
    bool turnsHardware = false, turnsWorkload = false;
    std::vector<const Knob*> ofTask;
    std::vector<std::string_view> ofPlan;
    std::vector<std::string> taskValues, planValues;
    Scenario scenario = base_;
    for (std::size_t i = 0; i < knobs_.size(); ++i) {
        const Knob& knob = knobs_[i];
        if (knob.of == KnobOf::Hardware) {
            hardwareKey = hardwareKey * knob.values.size() + levels[i];
            turnsHardware = true;
        } else if (knob.of == KnobOf::Workload) {
            workloadKey = workloadKey * knob.values.size() + levels[i];
            turnsWorkload = true;
        } else if (knob.of == KnobOf::Serving) {
            taskKey = taskKey * knob.values.size() + levels[i];
            ofTask.push_back(&knob);
            taskValues.push_back(knob.values[levels[i]]);
        } else if (knob.of == KnobOf::Software) {
            auto software = parseSoftware(knob.values[levels[i]]);
            if (!software) return Unexpected(software.error());
            scenario.software = std::move(*software);
        } else if (knob.of == KnobOf::Plan) {
            ofPlan.emplace_back(knob.path);
            planValues.push_back(knob.values[levels[i]]);
        }
    }
    if (!ofPlan.empty()) {
        auto plan = withPlanValues(base_.plan, ofPlan, planValues);
        if (!plan) return Unexpected(plan.error());
        scenario.plan = std::move(*plan);
    }
    if (turnsHardware) {
        auto made = shared_->hardware.get(hardwareKey, [&]() -> Expected<HardwarePtr> {
            Hardware hardware = *base_.hardware;
            for (std::size_t i = 0; i < knobs_.size(); ++i) {
                if (knobs_[i].of != KnobOf::Hardware) continue;
                const AttributeAt& at = shared_->at[i];
                auto done =
                    setAttribute(*componentAt(hardware.root, at.component), at.attribute, knobs_[i].values[levels[i]]);
                if (!done) return Unexpected(done.error());
            }
            for (Diagnostic& finding : validate(hardware)) {
                if (finding.severity == Severity::Error) return Unexpected(std::move(finding));
            }
            return std::make_shared<const Hardware>(std::move(hardware));
        });
        if (!made) return Unexpected(made.error());
        scenario.hardware = std::move(*made);
    }
    if (turnsWorkload) {
        auto made = shared_->workload.get(workloadKey, [&]() -> Expected<WorkloadPtr> {
            WorkloadRecipe recipe = base_.workload->recipe;
            for (std::size_t i = 0; i < knobs_.size(); ++i) {
                if (knobs_[i].of != KnobOf::Workload) continue;
                auto options = withOption(std::move(recipe.options), knobs_[i].path, knobs_[i].values[levels[i]]);
                if (!options) return Unexpected(options.error());
                recipe.options = std::move(*options);
            }
            return loadWorkload(recipe);
        });
        if (!made) return Unexpected(made.error());
        scenario.workload = std::move(*made);
    }
    if (!ofTask.empty()) {
        auto made = shared_->task.get(taskKey, [&] { return withServingValues(base_.task, ofTask, taskValues); });
        if (!made) return Unexpected(made.error());
        scenario.task = std::move(*made);
    }
    return scenario;
}

bool SearchSpace::differsByKnobs(const Scenario& question) const {
    if (rows_ || !base_.hardware || !base_.workload || !question.hardware || !question.workload) return false;
    // Recipes are compared as such: a model need not be made for it.
    std::vector<Knob> others;
    WorkloadRecipe mine = base_.workload->recipe, its = question.workload->recipe;
    for (const Knob& knob : knobs_) {
        if (knob.of != KnobOf::Workload) {
            others.push_back(knob);
            continue;
        }
        for (WorkloadRecipe* recipe : {&mine, &its}) {
            auto options = withOption(std::move(recipe->options), knob.path, knob.values.front());
            if (!options) return false;
            recipe->options = std::move(*options);
        }
    }
    if (!(mine == its)) return false;
    const auto turned = [&others](Scenario scenario) -> Expected<Scenario> {
        if (others.empty()) return scenario;
        const auto space = make(std::move(scenario), others);
        if (!space) return Unexpected(space.error());
        return space->scenarioAt(0);
    };
    const auto a = turned(base_), b = turned(question);
    return a && b && *a->hardware == *b->hardware && a->plan == b->plan && a->task == b->task &&
           a->software == b->software;
}

bool SearchSpace::turnsMethod() const {
    return std::any_of(knobs_.begin(), knobs_.end(), [](const Knob& knob) { return knob.of == KnobOf::Method; });
}

Expected<MethodChoice> SearchSpace::methodAt(std::uint64_t point, MethodChoice asked) const {
    if (!turnsMethod()) return asked;
    const auto levels = levelsAt(point);
    for (std::size_t i = 0; i < knobs_.size(); ++i) {
        if (knobs_[i].of != KnobOf::Method) continue;
        auto turned = withMethodValue(asked, keyOf(knobs_[i]), knobs_[i].values[levels[i]]);
        if (!turned) return turned;
        asked = std::move(*turned);
    }
    return asked;
}

}  // namespace orrery
