#include "app/window/form_parts.h"
#include "app/window/serving/serving_form.h"
#include "serving/schedulers/scheduler_options.h"
#include "widgets/common/fold.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/common/value_edit.h"

#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QFormLayout>

#include <algorithm>
#include <cmath>

namespace orrery::app {

void ServingForm::buildPolicy() {
    QFormLayout* form = section(tr("Scheduler"));
    const FieldSpec& spec = *findField("pools/scheduler/id");
    policy_ = namedChoice(inner_, "serving.policy", ui::qs(spec.title), fieldTip(spec));
    second_ = namedChoice(inner_, "serving.second", tr("Compare with"),
                          tr("The same traffic under a second policy, side by side"));
    second_->addItem(tr("nothing"), QString());
    for (const SchedulerCard& card : schedulers()) {
        for (QComboBox* box : {policy_, second_}) {
            box->addItem(ui::qs(card.title), ui::qs(card.id));
            box->setItemData(box->count() - 1, ui::qs(card.summary), Qt::ToolTipRole);
        }
    }
    policyText_ = new ui::Label({}, ui::FontRole::Small, ui::Tone::Muted, inner_);
    policyText_->setWordWrap(true);
    numbers_ = new ui::Fold(QStringLiteral("serving.numbers"), tr("Settings"),
                            tr("Batch sizes, budgets and options of the scheduler"), inner_);
    options_ = numbers_->body();
    form->addRow(ui::qs(spec.shortTitle()), policy_);
    form->addRow(policyText_);
    form->addRow(numbers_);
    form->addRow(tr("Compare with"), second_);
    connect(policy_, &QComboBox::activated, this, [this] {
        SchedulerSpec chosen;
        chosen.id = policy_->currentData().toString().toStdString();
        for (PoolSpec& each : question_.scenario.pools) {
            each.scheduler = chosen;
            if (defaults_) defaults_(each.scheduler, each.hardware);
        }
        showOptions();
        changed();
    });
    connect(second_, &QComboBox::activated, this, [this] {
        const QString id = second_->currentData().toString();
        question_.compareWith.reset();
        if (!id.isEmpty()) {
            question_.compareWith.emplace();
            question_.compareWith->id = id.toStdString();
            if (defaults_) defaults_(*question_.compareWith, pool().hardware);
        }
        changed();
    });
}

void ServingForm::showOptions() {
    delete options_->layout();
    qDeleteAll(options_->findChildren<QWidget*>(Qt::FindDirectChildrenOnly));
    auto* form = new QFormLayout(options_);
    form->setContentsMargins(0, 0, 0, 0);
    form->setVerticalSpacing(ui::Theme::instance().unit() / 2);
    const SchedulerCard* card = findScheduler(pool().scheduler.id);
    policyText_->setText(card ? ui::qs(card->summary) : QString());
    policyText_->setToolTip(card ? ui::qs(card->lineage) : QString());
    if (!card) return;
    const auto set = [this](std::string_view key, double value) {
        for (PoolSpec& each : question_.scenario.pools) setSchedulerNumber(each.scheduler, key, value);
        sumUpOptions();
        changed();
    };
    sumUpOptions();
    for (const SchedulerOption& option : card->options) {
        const double value = optionValue(pool().scheduler, option);
        const QString id = QStringLiteral("serving.option.") + ui::qs(option.key);
        if (isSwitch(option.key) || option.onOff) {
            auto* box = named(new QCheckBox(ui::qs(option.title), options_), "", ui::qs(option.title),
                              ui::windowText(option.meaning));
            box->setObjectName(id);
            box->setChecked(value != 0);
            connect(box, &QCheckBox::clicked, this, [set, key = option.key](bool on) { set(key, on ? 1 : 0); });
            form->addRow(box);
            continue;
        }
        if (std::max(value, option.fallback) >= 1e7) {  // bandwidths, `25 G`
            auto* edit = named(new ui::ValueEdit(options_), "", ui::qs(option.title), ui::windowText(option.meaning));
            edit->setObjectName(id);
            edit->setMeasure(Dimension::Number);
            edit->setStored(ui::text(value, Dimension::Number));
            edit->setClearable(false);
            connect(edit, &ui::ValueEdit::committed, this, [set, key = option.key](const QString& text) {
                if (const auto number = parseMeasure(text.toStdString(), Dimension::Number)) set(key, number->si);
            });
            form->addRow(ui::qs(option.title), edit);
            continue;
        }
        auto* box = named(new QDoubleSpinBox(options_), "", ui::qs(option.title), ui::windowText(option.meaning));
        box->setObjectName(id);
        const bool fraction = value != std::floor(value) || option.fallback != std::floor(option.fallback);
        const FieldSpec* field = findField("pools/scheduler/" + schedulerKey(option.key));
        box->setRange(field ? field->range.low : 0, field ? std::min(field->range.high, 1e7) : 1e7);
        box->setMinimumWidth(static_cast<int>(9 * ui::Theme::instance().unit() * ui::Theme::instance().scale()));
        box->setDecimals(fraction ? 3 : 0);
        box->setSingleStep(fraction ? 0.01 : std::max(1.0, std::floor(value / 8)));
        box->setGroupSeparatorShown(true);
        box->setValue(value);
        connect(box, &QDoubleSpinBox::valueChanged, this, [set, key = option.key](double to) { set(key, to); });
        form->addRow(ui::qs(option.title), box);
    }
}

void ServingForm::sumUpOptions() {
    const SchedulerCard* card = findScheduler(pool().scheduler.id);
    QStringList own;
    for (const SchedulerOption& option : card ? card->options : std::vector<SchedulerOption>()) {
        const double value = optionValue(pool().scheduler, option), usual = optionValue(SchedulerSpec{}, option);
        if (value == usual) continue;
        const bool onOff = isSwitch(option.key) || option.onOff;
        const QString title = ui::qs(option.title).toLower();
        own << (onOff ? (value != 0 ? title : tr("no %1").arg(title))
                      : title + QLatin1Char(' ') + QString::number(value, 'g', 6));
    }
    numbers_->head()->setSummary(own.isEmpty() ? tr("as usual") : own.join(QStringLiteral(", ")));
}

}  // namespace orrery::app
