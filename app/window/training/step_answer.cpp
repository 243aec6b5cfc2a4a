#include "app/window/training/step_answer.h"

#include "widgets/common/text.h"
#include "widgets/common/units_text.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace orrery::app {

namespace {

QString trainingText(const char* text) {
    return QCoreApplication::translate("Training", text);
}

const Figure* figureIn(const Estimate& estimate, std::string_view label) {
    const auto at = std::ranges::find(estimate.figures, label, &Figure::label);
    return at == estimate.figures.end() ? nullptr : &*at;
}

std::optional<double> valueIn(const Estimate& estimate, std::string_view label) {
    const Figure* figure = figureIn(estimate, label);
    return figure ? std::optional(figure->value) : std::nullopt;
}

QString rateText(double rate) {
    return ui::text(rate, Dimension::Number, 3);
}

QString moneyText(double dollars) {
    if (dollars >= 1e6) return QStringLiteral("$%1 M").arg(dollars / 1e6, 0, 'g', 3);
    if (dollars >= 1e4) return QStringLiteral("$%1 k").arg(dollars / 1e3, 0, 'g', 3);
    return QStringLiteral("$%1").arg(dollars, 0, 'g', 3);
}

/// Good news and bad news of a change; below half a percent it is none.
ui::Tone changeTone(double before, double now, bool lessIsBetter) {
    if (!(before > 0) || std::abs(now / before - 1) < 0.005) return ui::Tone::Muted;
    return (now < before) == lessIsBetter ? ui::Tone::Good : ui::Tone::Bad;
}

ui::StepCard cardOf(const StepRow& row) {
    ui::StepCard card;
    card.title = row.brief;
    card.value = stepText(row, row.value);
    card.tip = row.tip;
    if (row.quick) card.note = trainingText("%1 closed form").arg(stepText(row, *row.quick));
    if (row.before && *row.before > 0) {
        card.difference = ui::signedPercentText(row.value / *row.before - 1);
        card.differenceTone = changeTone(*row.before, row.value, row.lessIsBetter);
    }
    return card;
}

}  // namespace

double StepAnswer::needs() const {
    const auto full = [this](const ui::StageBytes& stage) {
        const double all = stage.capacity > 0 ? stage.capacity : capacity;
        return all > 0 ? stage.total() / all : stage.total();
    };
    const auto fullest = std::ranges::max_element(stages, {}, full);
    return fullest == stages.end() ? 0 : fullest->total();
}

double StepAnswer::dollarsPerTrillion(double price) const {
    return rate > 0 ? price * static_cast<double>(devices) / 3600 / rate * 1e12 : 0;
}

StepAnswer stepAnswer(const Estimate& estimate, const QString& method) {
    StepAnswer answer;
    answer.closed = estimate.method.starts_with("closed-form-step");
    answer.source = answer.closed ? method : trainingText("run with %1").arg(method);
    answer.seconds = estimate.latency.value;
    answer.low = estimate.interval.low.value;
    answer.high = estimate.interval.high.value;
    answer.utilisation = valueIn(estimate, "Model FLOP utilisation");
    answer.exposed = valueIn(estimate, "Exposed communication");
    if (const auto waits = valueIn(estimate, "Waiting for other stages"); waits && answer.seconds > 0)
        answer.bubble = *waits / answer.seconds;
    else if (answer.exposed)
        answer.bubble = 0;  // one stage waits for nobody
    if (const Figure* rate = figureIn(estimate, "Throughput")) {
        answer.rate = rate->value;
        answer.tokens = rate->unit.starts_with("token");
    }
    answer.devices = std::max<std::int64_t>(1, std::llround(valueIn(estimate, "Devices at work").value_or(1)));
    answer.microbatches = std::max<std::int64_t>(1, std::llround(valueIn(estimate, "Micro-batches").value_or(1)));
    if (estimate.memory) {
        answer.stages = {{estimate.memory->weights.value, 0, 0, estimate.memory->activations.value}};
        answer.onlyFullest = true;
        answer.statesApart = false;
        answer.capacity = estimate.memory->capacity.value;
    }
    return answer;
}

StepAnswer stepAnswer(const StepFigures& figures) {
    StepAnswer answer;
    answer.source = trainingText("closed form");
    answer.closed = true;
    answer.seconds = figures.seconds;
    answer.low = figures.low;
    answer.high = figures.high;
    if (figures.mfu > 0) answer.utilisation = figures.mfu;
    if (figures.seconds > 0) answer.bubble = figures.bubble / figures.seconds;
    answer.exposed = figures.tensor + figures.context + figures.expert + figures.pipeline + figures.data;
    answer.rate = figures.rate;
    answer.tokens = figures.tokens;
    answer.devices = figures.devices;
    answer.microbatches = figures.microbatches;
    for (const StageMemory& stage : figures.stages)
        answer.stages.push_back({stage.parameters.value, stage.gradients.value, stage.optimizer.value,
                                 stage.activations.value, figures.layers.empty() ? 0 : stage.capacity.value});
    for (const std::int64_t layers : figures.layers)
        answer.layers += (answer.layers.isEmpty() ? QString() : QStringLiteral(" + ")) + QString::number(layers);
    answer.capacity = figures.capacity;
    using Kind = ui::TimeShare::Kind;
    const auto add = [&](const char* name, double seconds, Kind kind) {
        if (seconds > 0) answer.times.push_back({trainingText(name), seconds, kind});
    };
    add("computing", figures.compute, Kind::Compute);
    add("optimizer", figures.optimizer, Kind::Update);
    add("tensor exchanges", figures.tensor, Kind::Tensor);
    add("context exchanges", figures.context, Kind::Context);
    add("expert exchanges", figures.expert, Kind::Expert);
    add("hand-overs of stages", figures.pipeline, Kind::Pipeline);
    add("gradients, parameters", figures.data, Kind::Data);
    add("bubble", figures.bubble, Kind::Bubble);
    return answer;
}

QString whyText(const StepAnswer& answer, const StepAnswer& before) {
    if (answer.times.empty() || before.times.empty()) return {};
    std::map<QString, double> differences;
    for (const ui::TimeShare& each : answer.times) differences[each.name] += each.seconds;
    for (const ui::TimeShare& each : before.times) differences[each.name] -= each.seconds;
    std::vector<std::pair<QString, double>> sorted(differences.begin(), differences.end());
    std::ranges::stable_sort(sorted, std::greater<>(), [](const auto& each) { return std::abs(each.second); });
    constexpr std::size_t most = 3;
    constexpr double telling = 0.005;  // of the step
    QStringList said;
    for (const auto& [name, seconds] : sorted) {
        if (said.size() == most || std::abs(seconds) < telling * before.seconds) break;
        said << QStringLiteral("%1 %2%3").arg(name, seconds < 0 ? QStringLiteral("−") : QStringLiteral("+"),
                                              ui::text(std::abs(seconds), Dimension::Time));
    }
    return said.join(QStringLiteral(", "));
}

QString stepText(const StepRow& row, double value) {
    if (row.unit == QLatin1String("$")) return moneyText(value);
    if (row.dimension == Dimension::Fraction) return ui::percentText(value);
    if (row.dimension == Dimension::Number) return rateText(value) + (row.unit.isEmpty() ? QString() : row.unit);
    if (row.dimension == Dimension::Count) return ui::countText(value);
    return ui::text(value, row.dimension, 3);
}

std::vector<StepRow> stepRows(const StepAnswer& answer, const StepAnswer* quick, const StepAnswer* before,
                              double price) {
    std::vector<StepRow> rows;
    const auto add = [&](const char* name, const char* brief, const char* tip, const auto& value, Dimension dimension,
                         bool less = true, const QString& unit = {}) {
        const std::optional<double> now = value(answer);
        if (!now) return;
        StepRow row{trainingText(name), trainingText(tip), trainingText(brief), *now, {}, {}, dimension, unit, less};
        if (quick) row.quick = value(*quick);
        if (before) row.before = value(*before);
        rows.push_back(std::move(row));
    };
    using Maybe = std::optional<double>;
    add(
        "Time of a step", "Time of a step",
        "From the first forward pass to the last update, and the interval around it.",
        [](const StepAnswer& a) { return Maybe(a.seconds); }, Dimension::Time);
    add(
        answer.tokens ? "Tokens per second" : "Samples per second", answer.tokens ? "Tokens/s" : "Samples/s",
        "Of all devices together.", [](const StepAnswer& a) { return a.rate > 0 ? Maybe(a.rate) : Maybe(); },
        Dimension::Number, false, QStringLiteral("/s"));
    add(
        "Model FLOP utilisation", "MFU",
        "Operations that the model needs, over what the devices could do in that time (MFU). Recomputation does not "
        "count. It can be above 100 % with Winograd convolutions, which multiply less than the model counts.",
        [](const StepAnswer& a) { return a.utilisation; }, Dimension::Fraction, false);
    add(
        "Bubble", "Bubble",
        "Share of the step in which a stage waits for other stages: filling, draining, uneven stages.",
        [](const StepAnswer& a) { return a.bubble; }, Dimension::Fraction);
    add(
        "Exposed communication", "Exposed comm.",
        "Exposed communication: time in which a device waits for an exchange.",
        [](const StepAnswer& a) { return a.exposed; }, Dimension::Time);
    add(
        "Memory, fullest stage", "Fullest stage",
        "Peak memory of a device of the stage that needs most: parameters, gradients, optimizer state, activations.",
        [](const StepAnswer& a) { return a.needs() > 0 ? Maybe(a.needs()) : Maybe(); }, Dimension::Data);
    add(
        answer.tokens ? "Cost of 10¹² tokens" : "Cost of 10¹² samples", answer.tokens ? "10¹² tokens" : "10¹² samples",
        "Devices in use × time × the device-hour price at the left.",
        [price](const StepAnswer& a) {
            const double dollars = a.dollarsPerTrillion(price);
            return dollars > 0 ? Maybe(dollars) : Maybe();
        },
        Dimension::Number, true, QStringLiteral("$"));
    add(
        "Devices", "Devices", "That the plan uses.",
        [](const StepAnswer& a) { return Maybe(static_cast<double>(a.devices)); }, Dimension::Count);
    return rows;
}

std::vector<ui::StepCard> stepCards(const StepAnswer& answer, const StepAnswer* quick, const StepAnswer* before,
                                    double price) {
    std::vector<ui::StepCard> cards;
    for (const StepRow& row : stepRows(answer, quick, before, price)) {
        if (row.dimension == Dimension::Count) continue;  // the form says it
        ui::StepCard card = cardOf(row);
        if (row.dimension == Dimension::Time && cards.empty()) {
            const QString interval = answer.high > answer.low
                                         ? QStringLiteral("%1 – %2").arg(ui::text(answer.low, Dimension::Time),
                                                                         ui::text(answer.high, Dimension::Time))
                                         : QString();
            card.tip += interval.isEmpty() ? QString() : QLatin1Char('\n') + trainingText("90 %: %1").arg(interval);
            if (card.note.isEmpty()) card.note = interval;
        }
        if (row.dimension == Dimension::Data && answer.capacity > 0) {
            const double left = answer.capacity - row.value;
            card.tone = left < 0 ? ui::Tone::Bad : ui::Tone::Normal;
            card.noteTone = left < 0 ? ui::Tone::Bad : ui::Tone::Good;
            card.note = left < 0
                            ? trainingText("%1 too much for %2")
                                  .arg(ui::text(-left, Dimension::Data), ui::text(answer.capacity, Dimension::Data))
                            : trainingText("fits in %1").arg(ui::text(answer.capacity, Dimension::Data));
        }
        cards.push_back(std::move(card));
    }
    return cards;
}

}  // namespace orrery::app
