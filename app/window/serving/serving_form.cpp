#include "app/window/serving/serving_form.h"

#include "app/window/form_parts.h"
#include "hardware/files/catalogue.h"
#include "methods/system/planned_fleet.h"
#include "serving/schedulers/engine_defaults.h"
#include "widgets/common/label.h"
#include "widgets/common/log_slider.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/serving/traffic_picture.h"

#include <QCheckBox>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <array>
#include <cmath>
#include <utility>

namespace orrery::app {

namespace {

double meanOf(const LengthSpec& length) {
    return length.kind == LengthKind::Uniform ? (length.least + length.most) / 2.0 : length.mean;
}

}  // namespace

ServingForm::ServingForm(QWidget* parent) : QScrollArea(parent), inner_(new QWidget) {
    setObjectName(QStringLiteral("serving.form"));
    setAccessibleName(tr("Model, fleet, traffic and SLO"));
    setToolTip(tr("Every change is simulated at once"));
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);
    const int unit = ui::Theme::instance().unit();
    auto* column = new QVBoxLayout(inner_);
    column->setContentsMargins(unit, unit, unit, unit);
    column->setSpacing(unit);
    buildModel();
    addFolds(modelSections(inner_));
    buildFleet();
    addFolds(fleetSections(facts_, inner_));
    buildPolicy();
    buildTraffic();
    addFolds(trafficSections(inner_));
    buildPromise();
    column->addStretch(1);
    setWidget(inner_);
    alignLabels();
}

QFormLayout* ServingForm::section(const QString& title) {
    auto* column = static_cast<QVBoxLayout*>(inner_->layout());
    column->addWidget(new ui::SectionHeader(title, inner_));
    auto* form = new QFormLayout;
    form->setVerticalSpacing(ui::Theme::instance().unit() / 2);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    column->addLayout(form);
    return form;
}

void ServingForm::addFolds(const std::vector<FieldFold*>& folds) {
    auto* group = new QVBoxLayout;
    group->setSpacing(ui::Theme::instance().unit() / 4);
    static_cast<QVBoxLayout*>(inner_->layout())->addLayout(group);
    for (FieldFold* fold : folds) {
        group->addWidget(fold);
        folds_.push_back(fold);
        connect(fold, &FieldFold::edited, this, &ServingForm::change);
        connect(fold, &FieldFold::turnRequested, this, &ServingForm::turnRequested);
    }
}

void ServingForm::change(const QuestionChange& change) {
    if (filling_) return;
    change(question_);
    changed();
}

FieldRows& ServingForm::rowsOn(QFormLayout* form) {
    auto* rows = new FieldRows(form, inner_);
    rows_.push_back(rows);
    connect(rows, &FieldRows::edited, this, &ServingForm::change);
    connect(rows, &FieldRows::turnRequested, this, &ServingForm::turnRequested);
    return *rows;
}

void ServingForm::showFields() {
    filling_ = true;
    for (FieldFold* fold : folds_) fold->show(question_);
    for (FieldRows* rows : rows_) rows->show(question_);
    filling_ = false;
}

void ServingForm::lead(const char* path) {
    const QString wanted = QString::fromLatin1(path);
    for (QWidget* control : inner_->findChildren<QWidget*>()) {
        if (control->property(fieldProperty).toString() != wanted) continue;
        ensureWidgetVisible(control);
        return control->setFocus(Qt::OtherFocusReason);
    }
}

void ServingForm::alignLabels() {
    int widest = 0;
    const auto labels = [this] {
        QList<QWidget*> all;
        for (const QFormLayout* form : inner_->findChildren<QFormLayout*>()) {
            if (form->parentWidget() != inner_) continue;  // what is folded has long names
            for (int row = 0; row < form->rowCount(); ++row)
                if (const QLayoutItem* item = form->itemAt(row, QFormLayout::LabelRole); item && item->widget())
                    all << item->widget();
        }
        return all;
    }();
    for (const QWidget* label : labels) widest = std::max(widest, label->sizeHint().width());
    for (QWidget* label : labels) label->setMinimumWidth(widest);
}

void ServingForm::buildModel() {
    QFormLayout* form = section(tr("Model"));
    FieldRows& rows = rowsOn(form);
    rows.field("model/source");
    rows.field("model/weights");
    buildPricer(form, rows);
    rows.section("model");
}

void ServingForm::buildFleet() {
    QFormLayout* form = fleetRows_ = section(tr("Fleet"));
    device_ = namedChoice(inner_, "serving.device", tr("Device"), tr("The drawn device, or one of the library"));
    device_->addItem(tr("As drawn"), QString());
    for (const CatalogueEntry& entry : hardwareCatalogue())
        if (entry.group == "GPU" || entry.group == "TPU" || entry.group == "Accelerator" || entry.group == "CPU" ||
            entry.group == "Edge")
            device_->addItem(ui::qs(entry.name), ui::qs(entry.id));
    replicas_ =
        namedNumber(inner_, "serving.replicas", tr("Replicas"), tr("Copies of the model behind one router"), 1, 1024);
    split_ = named(new QCheckBox(tr("Prefill and decode apart"), inner_), "serving.disaggregate",
                   tr("Prefill and decode on replicas of their own"),
                   tr("One pool computes the prompts and sends their KV cache to another pool, which decodes"));
    prefillReplicas_ = namedNumber(inner_, "serving.prefillReplicas", tr("Prefill replicas"),
                                   tr("Replicas that compute prompts"), 1, 1024);
    planText_ = new ui::Label({}, ui::FontRole::Small, ui::Tone::Muted, inner_);
    planText_->setWordWrap(true);
    form->addRow(tr("Device"), device_);
    form->addRow(tr("Replicas"), replicas_);
    FieldRows& rows = rowsOn(form);
    rows.claim(replicas_, "pools/replicas");
    rows.field("pools/plan/tensor");
    rows.field("pools/plan/pipeline");
    form->addRow(QString(), split_);
    form->addRow(tr("Prefill"), prefillReplicas_);
    rows.section("fleet");
    rows.section("router");
    form->addRow(planText_);
    connect(device_, &QComboBox::activated, this, [this] {
        // Numbers that nobody chose were those of the device before.
        const auto follow = [this](SchedulerSpec& scheduler, const std::string& device) {
            if (defaults_ && hasUnchosenNumbers(scheduler)) defaults_(scheduler, device);
        };
        for (PoolSpec& each : question_.scenario.pools) {
            each.hardware = device_->currentData().toString().toStdString();
            follow(each.scheduler, each.hardware);
        }
        if (question_.compareWith) follow(*question_.compareWith, pool().hardware);
        showOptions();
        changed();
    });
    connect(replicas_, &QSpinBox::valueChanged, this, [this](int value) {
        if (filling_) return;
        question_.scenario.pools.back().replicas = value;
        changed();
    });
    connect(prefillReplicas_, &QSpinBox::valueChanged, this, [this](int value) {
        if (filling_ || question_.scenario.pools.size() < 2) return;
        pool().replicas = value;
        changed();
    });
    connect(split_, &QCheckBox::clicked, this, [this](bool apart) {
        auto& pools = question_.scenario.pools;
        pools.resize(1);
        pools.front().role = apart ? ReplicaRole::Prefill : ReplicaRole::Whole;
        pools.front().name = apart ? "prefill" : "replicas";
        if (apart) {
            pools.push_back(pools.front());
            pools.back().role = ReplicaRole::Decode;
            pools.back().name = "decode";
        }
        changed();
        setQuestion(question_);
    });
}

void ServingForm::changed() {
    if (filling_) return;
    showFields();
    emit edited();
}

void ServingForm::setQuestion(const ServingStudy& question) {
    question_ = question;
    if (question_.scenario.pools.empty()) question_.scenario.pools.emplace_back();
    filling_ = true;
    const auto& pools = question_.scenario.pools;
    showPricer();
    selectData(device_, ui::qs(pool().hardware));
    replicas_->setValue(pools.back().replicas);
    // Pools that are no halves of one service (stages, tenants, generations of devices) are shown by their names.
    const bool apart = pools.size() == 2 && pools.front().role == ReplicaRole::Prefill;
    const bool named = pools.size() > 1 && !apart;
    split_->setVisible(!named);
    split_->setChecked(apart);
    const auto label = [this](QWidget* field, const QString& text) {
        if (auto* shown = qobject_cast<QLabel*>(fleetRows_->labelForField(field)))
            shown->setText(text.size() > 12 ? text.left(11) + QChar(0x2026) : text);
    };
    label(replicas_, named ? ui::qs(pools.back().name) : tr("Replicas"));
    label(prefillReplicas_, named ? ui::qs(pools.front().name) : tr("Prefill"));
    prefillReplicas_->setEnabled(pools.size() > 1);
    prefillReplicas_->setValue(pools.size() > 1 ? pools.front().replicas : 1);
    selectData(policy_, ui::qs(pool().scheduler.id));
    selectData(second_, question_.compareWith ? ui::qs(question_.compareWith->id) : QString());
    const TrafficSpec& traffic = question_.traffic;
    rate_->setValue(traffic.arrivals.rate);
    prompt_->setValue(static_cast<int>(std::lround(meanOf(traffic.prompt))));
    output_->setValue(static_cast<int>(std::lround(meanOf(traffic.output))));
    showOptions();
    filling_ = false;
    showTraffic();
    showFields();
}

void ServingForm::setStream(std::shared_ptr<const RequestStream> stream) {
    picture_->setStream(std::move(stream));
    trafficText_->setText(picture_->summary());
}

void ServingForm::setPlan(const PlannedFleet& planned, double low, double high) {
    if (!planned.pools.empty()) facts_->decodeSeconds = planned.pools.back().decodeSeconds;
    if (planned.fleet) facts_->transfer = planned.fleet->transfer;
    QStringList lines;
    for (const PlannedPool& each : planned.pools)
        lines << tr("%1: %2 tokens of KV cache per replica; a lone sequence decodes in %3")
                     .arg(planned.pools.size() > 1 ? tr("%1 (%2)").arg(ui::qs(each.name), ui::qs(each.device))
                                                   : ui::qs(each.device),
                          ui::countText(static_cast<double>(each.capacity.tokens)),
                          ui::text(each.decodeSeconds, Dimension::Time));
    const auto signedPercent = [](double factor) {
        return (factor < 1 ? QStringLiteral("−") : QStringLiteral("+")) + ui::percentText(std::abs(factor - 1));
    };
    lines << (low < 1 || high > 1 ? tr("90 % of iteration times: %1 to %2").arg(signedPercent(low), signedPercent(high))
                                  : tr("The accuracy of the iteration times has not been measured"));
    planText_->setText(lines.join(QLatin1Char('\n')));
    QStringList assumptions;
    for (const PlannedPool& each : planned.pools)
        for (const std::string& line : each.assumptions)
            if (!assumptions.contains(ui::qs(line))) assumptions << ui::qs(line);
    planText_->setToolTip(assumptions.join(QLatin1Char('\n')));
}

}  // namespace orrery::app
