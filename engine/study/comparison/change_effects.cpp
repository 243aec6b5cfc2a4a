#include "study/comparison/change_effects.h"

#include "hardware/edit/tree_edit.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

Ranged timeOf(const AnsweredCase& answered) {
    return answered.values.front().value_or(Ranged{});
}

// The old design with one of its numbers as in the new one.
Expected<HardwarePtr> withChange(const Hardware& before, const Difference& difference) {
    Hardware changed = before;
    Component* part = componentAt(changed.root, *difference.before);
    if (!part) return fail("compare.change", "the part is not there");
    // `count` is 1 where it is not written; a value that is gone leaves the attribute out.
    if (difference.to == "–") {
        std::erase_if(part->attributes, [&](const Attribute& each) { return each.name == difference.attribute; });
    } else if (auto done = setAttribute(*part, difference.attribute, difference.to); !done) {
        return Unexpected(done.error());
    }
    return std::make_shared<const Hardware>(std::move(changed));
}

}  // namespace

Expected<ChangeEffects> changeEffects(const AnsweredCase& before, const AnsweredCase& after,
                                      const CompareOptions& options) {
    for (const AnsweredCase* each : {&before, &after}) {
        if (each->estimate) continue;
        return fail("compare.no-answer", fmt::format("`{}` has no answer", each->asked.name),
                    "two cases that are answered", each->failure ? each->failure->message : std::string());
    }
    if (!sameQuestion(before, after)) {
        return fail("compare.question", "one case is a serving run or a step, the other is not",
                    "two cases of one kind of question");
    }
    const Hardware& old = *before.asked.scenario.hardware;
    const Hardware& fresh = *after.asked.scenario.hardware;
    ChangeEffects effects{timeOf(before), timeOf(after), {}};
    Study study{.name = "changes", .scenarios = {}, .methods = {before.method}, .seed = options.seed};
    std::vector<std::size_t> asked;
    for (Difference& difference : differences(old.root, fresh.root)) {
        ChangeEffect effect;
        effect.text = toText(old.root, fresh.root, difference);
        const bool there = difference.before.has_value();
        effect.path = pathText(there ? old.root : fresh.root, there ? *difference.before : *difference.after);
        if (difference.what != Difference::What::Changed) {
            effect.why = "a part that comes or goes cannot be taken alone";
        } else if (asked.size() >= mostChangesAlone) {
            effect.why = fmt::format("only the first {} changes are taken alone", mostChangesAlone);
        } else if (auto changed = withChange(old, difference); !changed) {
            effect.why = changed.error().message;
        } else {
            Scenario scenario = before.asked.scenario;
            scenario.hardware = std::move(*changed);
            study.scenarios.push_back(std::move(scenario));
            asked.push_back(effects.changes.size());
        }
        effect.difference = std::move(difference);
        effects.changes.push_back(std::move(effect));
    }
    const auto serial = options.executor ? nullptr : makeSerialExecutor();
    StudyOptions how;
    how.executor = options.executor ? options.executor : serial.get();
    how.stop = options.stop;
    how.progress = options.progress;
    how.wantTimeline = false;
    how.calibrations = options.calibrations;
    const auto results = runStudy(study, how);
    if (options.stop.stop_requested()) return fail("study.cancelled", "cancelled");
    for (std::size_t i = 0; i < asked.size(); ++i) {
        ChangeEffect& effect = effects.changes[asked[i]];
        if (results[i].estimate) {
            const Estimate& answer = *results[i].estimate;
            effect.alone = Ranged{answer.latency.value, answer.interval.low.value, answer.interval.high.value};
        } else if (results[i].failure) {
            effect.why = results[i].failure->message;
        }
    }
    return effects;
}

}  // namespace orrery
