#include "app/window/hardware/link_heat.h"

#include "app/document/commands/project_edits.h"
#include "app/window/form_parts.h"
#include "app/window/hardware/canvas_pane.h"
#include "app/window/hardware/hardware_page.h"
#include "app/window/studio.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSlider>

#include <algorithm>

namespace orrery::app {

namespace {

/// The colours from nothing to the end of the scale.
class HeatScale : public QWidget {
public:
    explicit HeatScale(QWidget* parent) : QWidget(parent) { setFixedSize(80, 12); }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        for (int x = 0; x < width(); ++x)
            painter.fillRect(x, 0, 1, height(), ui::Theme::instance().heat(x / (width() - 1.0)));
    }
};

bool follows(const MethodChoice& choice) {
    const auto network = choice.options.find("network");
    return network != choice.options.end() &&
           (network->second == "messages" || network->second == "fluid" || network->second == "packets");
}

}  // namespace

LinkHeat::LinkHeat(Studio& studio, HardwarePage& page) : QWidget(page.pane()), studio_(studio), page_(page) {
    setObjectName(QStringLiteral("canvas.heat"));
    const int unit = ui::Theme::instance().unit();
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(unit, unit / 4, unit, unit / 4);
    row->setSpacing(unit);
    name_ = new ui::Label(tr("Link use  0 %"), ui::FontRole::Small, ui::Tone::Muted, this);
    scale_ = new HeatScale(this);
    scale_->setToolTip(tr("Colours of links, switches and networks: how much of the time they carry something"));
    end_ = new ui::Label({}, ui::FontRole::Small, ui::Tone::Muted, this);
    moment_ = named(new QSlider(Qt::Horizontal, this), "canvas.heat.moment", tr("Moment of the step"),
                    tr("How busy the links are at this moment of the step; at the left end, on average"));
    moment_->setRange(-1, -1);
    moment_->setMinimumWidth(10 * unit);
    text_ = new ui::Label({}, ui::FontRole::Small, ui::Tone::Muted, this);
    text_->setObjectName(QStringLiteral("canvas.heat.text"));
    text_->setElided(true);
    follow_ = named(
        new QPushButton(tr("Follow messages"), this), "canvas.heat.follow", tr("Follow messages"),
        tr("Simulates the messages on the drawn links, which share their bandwidth (network=fluid); one undo step"));
    row->addWidget(name_);
    row->addWidget(scale_);
    row->addWidget(end_);
    row->addWidget(moment_, 2);
    row->addWidget(text_, 3);
    row->addWidget(follow_);
    connect(moment_, &QSlider::valueChanged, this, [this](int span) { studio_.linkMoment.set(span); });
    connect(&studio_.linkMoment, &LinkMoment::changed, this, &LinkHeat::showHeat);
    connect(&ui::Theme::instance(), &ui::Theme::changed, scale_, qOverload<>(&QWidget::update));
    connect(&studio_.live, &LiveController::lateChanged, this, &LinkHeat::showHeat);
    connect(follow_, &QPushButton::clicked, this, &LinkHeat::follow);
    connect(&studio.document, &Document::scenarioChanged, this, &LinkHeat::showAnswer);
    connect(&studio.document, &Document::methodsChanged, this, &LinkHeat::showAnswer);
    connect(&studio.document, &Document::replaced, this, &LinkHeat::showAnswer);
    hide();
}

std::string LinkHeat::methodThatFollows() const {
    for (const std::string& each : studio_.document.state()->methods) {
        const auto choice = methodChoice(each, builtinMethods());
        if (choice && follows(*choice)) return each;
    }
    return {};
}

std::string LinkHeat::methodThatCould() const {
    const auto& snapshot = studio_.live.snapshot();
    // What is made for other devices, or for another task, follows nothing here.
    const auto refuses = [&](const std::string& each) {
        return snapshot && std::ranges::any_of(snapshot->answers, [&](const ui::Answer& answer) {
                   return answer.failure && answer.method.toStdString() == each;
               });
    };
    for (const std::string& each : studio_.document.state()->methods) {
        const auto choice = methodChoice(each, builtinMethods());
        if (!choice) continue;
        const Method* method = findMethod(choice->id);
        const bool able = method && std::ranges::any_of(method->card.options, [](const MethodOption& option) {
                              return option.key == "network" && std::ranges::count(option.choices, "fluid") > 0;
                          });
        if (able && !refuses(each)) return each;
    }
    return {};
}

void LinkHeat::follow() {
    const std::string following = methodThatFollows(), which = following.empty() ? methodThatCould() : following;
    std::vector<std::string> methods = studio_.document.state()->methods;
    const auto at = std::ranges::find(methods, which);
    auto choice = methodChoice(which, builtinMethods());
    if (at == methods.end() || !choice) return;
    if (following.empty())
        choice->options["network"] = "fluid";
    else
        choice->options.erase("network");
    *at = toText(*choice);
    studio_.apply(setMethodsEdit(*studio_.document.state(), std::move(methods)));
}

void LinkHeat::showAnswer() {
    const auto& scenarios = studio_.document.state()->scenarios;
    const bool asked = !scenarios.empty() && scenarios.front().task.starts_with("training-step") &&
                       scenarios.front().plan.devices() > 1;
    setVisible(asked);
    showHeat();
}

void LinkHeat::showHeat() {
    const auto& snapshot = studio_.live.snapshot();
    const QString& late = studio_.live.late();
    const bool current = !isHidden() && snapshot && late.isEmpty() &&
                         snapshot->scenario.hardware == studio_.document.hardware() &&
                         std::holds_alternative<TrainingStep>(snapshot->scenario.task);
    const Estimate* followed = current ? followedEstimate(*snapshot) : nullptr;
    for (QWidget* each : std::initializer_list<QWidget*>{name_, scale_, end_, moment_}) each->setVisible(followed);
    const bool following = !methodThatFollows().empty(), able = following || !methodThatCould().empty();
    follow_->setVisible(able);
    follow_->setText(following ? tr("Stop following") : tr("Follow messages"));
    follow_->setToolTip(following ? tr("Exchanges are computed by the closed form again; one undo step")
                                  : tr("Simulates the messages on the drawn links, which share their bandwidth "
                                       "(network=fluid); one undo step"));
    if (!followed) {
        page_.canvas()->setHeat({});
        QString said = !late.isEmpty()         ? tr("Link use: not for this question. %1").arg(late)
                       : studio_.live.isBusy() ? tr("Link use: computing the step …")
                       : following             ? tr("Link use: no answer yet")
                       : able
                           ? tr("The use of links over time is known only if messages are simulated.")
                           : tr("Link use: no shown method can simulate the messages of a step; add Tiles and waves.");
        if (current && following)
            for (const ui::Answer& answer : snapshot->answers)
                if (answer.failed())
                    said = tr("Link use: %1. %2")
                               .arg(ui::windowText(answer.failure->message), ui::windowText(answer.failure->hint));
        return text_->setFullText(said);
    }
    const NetworkUse& use = followed->networkUse;
    const int spans = linkSpans(followed), span = std::min(studio_.linkMoment.span(), spans - 1);
    const QSignalBlocker quiet(moment_);
    moment_->setRange(-1, spans - 1);
    moment_->setValue(span);
    end_->setText(ui::percentText(linkScale(use)));
    text_->setFullText(linkMomentText(use, span));
    page_.canvas()->setHeat(linkHeat(snapshot->scenario.hardware->root, use, span));
}

}  // namespace orrery::app
