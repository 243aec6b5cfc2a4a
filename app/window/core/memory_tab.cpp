#include "app/window/core/memory_tab.h"

#include "app/window/core/answer_side.h"
#include "app/window/core/memory_bars.h"
#include "app/window/form_parts.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/common/veil.h"
#include "widgets/plots/bar_list.h"

#include <QCheckBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalBlocker>

#include <algorithm>

namespace orrery::app {

MemoryTab::~MemoryTab() = default;

void MemoryTab::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (!asked_) changed();
}

MemoryQuestion MemoryTab::question() const {
    MemoryQuestion question;
    question.standard = memory_->currentData().toString().toStdString();
    if (question.standard.empty()) question.config = config_.toStdString();
    question.pattern = static_cast<RequestPattern>(pattern_->currentData().toInt());
    if (question.pattern == RequestPattern::Trace) question.trace = trace_.toStdString();
    question.requests = requests_->value();
    question.stride = stride_->value();
    question.writes = writes_->value();
    question.mapping = mapping_->currentData().toString().toStdString();
    question.injection = injection_->currentData().toString().toStdString();
    question.page = page_->currentData().toString().toStdString();
    question.refresh = refresh_->isChecked();
    question.currents = chosenCurrents_.toStdString();
    return question;
}

void MemoryTab::setQuestion(const MemoryQuestion& question) {
    const QSignalBlocker a(requests_), b(stride_), c(writes_), d(refresh_);
    config_ = ui::qs(question.config);
    trace_ = ui::qs(question.trace);
    selectData(memory_, ui::qs(question.standard));
    selectData(pattern_, static_cast<int>(question.pattern));
    selectData(mapping_, ui::qs(question.mapping));
    selectData(injection_, ui::qs(question.injection));
    selectData(page_, ui::qs(question.page));
    requests_->setValue(question.requests);
    stride_->setValue(question.stride);
    writes_->setValue(question.writes);
    refresh_->setChecked(question.refresh);
    showCurrents(ui::qs(question.currents));
    showRows();
    changed();
}

void MemoryTab::showRows() {
    const auto pattern = static_cast<RequestPattern>(pattern_->currentData().toInt());
    const auto row = [this](QWidget* field, bool used) {
        field->setVisible(used);
        if (QWidget* label = form_->labelForField(field)) label->setVisible(used);
    };
    row(configFile_, memory_->currentData().toString().isEmpty());
    row(traceFile_, pattern == RequestPattern::Trace);
    row(requests_, pattern != RequestPattern::Trace);
    row(writes_, pattern != RequestPattern::Trace);
    row(stride_, pattern == RequestPattern::Stride);
    configFile_->setText(config_.isEmpty() ? tr("Choose …") : QFileInfo(config_).fileName());
    traceFile_->setText(trace_.isEmpty() ? tr("Choose …") : QFileInfo(trace_).fileName());
}

void MemoryTab::chooseFile(QString& into, const QString& title, const QString& filter) {
    const QString file = QFileDialog::getOpenFileName(this, title, into, filter);
    if (file.isEmpty()) return;
    into = file;
    showRows();
    changed();
}

void MemoryTab::showCurrents(const QString& chosen) {
    chosenCurrents_ = chosen;
    currents_->clear();
    currents_->addItem(tr("of the device"), QString());
    currents_->setItemData(0, tr("The published ones of these devices, where there are some"), Qt::ToolTipRole);
    for (const std::string& id : dramCurrentsIds()) {
        const auto one = loadDramCurrents(id);
        currents_->addItem(ui::qs(one ? one->title : id), ui::qs(id));
        if (one) currents_->setItemData(currents_->count() - 1, ui::qs(one->source), Qt::ToolTipRole);
    }
    if (!chosen.isEmpty() && currents_->findData(chosen) < 0) currents_->addItem(QFileInfo(chosen).fileName(), chosen);
    currents_->addItem(tr("Choose a file …"), QStringLiteral("?"));
    selectData(currents_, chosen);
}

void MemoryTab::chooseCurrents(int at) {
    QString chosen = currents_->itemData(at).toString();
    if (chosen == QLatin1String("?")) {
        chosen = QFileDialog::getOpenFileName(this, tr("Choose supply currents"), chosenCurrents_,
                                              tr("Supply currents (*.yaml)"));
        if (chosen.isEmpty()) chosen = chosenCurrents_;
    }
    showCurrents(chosen);
    changed();
}

void MemoryTab::changed() {
    if (answer_) veil_->dropSoon(tr("The question has changed. The previous run is shown"));
    soon_.start();
}

void MemoryTab::run() {
    const MemoryQuestion question = this->question();
    if (asked_ == question && work_.isRunning()) return;
    if (asked_ == question && answer_) return veil_->lift();
    asked_ = question;
    refusal_.reset();
    work_.ask([question](const std::stop_token& stop, Progress&) { return runMemory(question, stop); },
              [this](Expected<MemoryAnswer>&& found) { take(std::move(found)); });
    tell();
}

void MemoryTab::take(Expected<MemoryAnswer>&& found) {
    if (!found) {
        refusal_ = found.error();
        answer_.reset();
        if (timeline_->isEmpty())
            veil_->lift();
        else
            veil_->drop(tr("The question at the left has no answer. The previous run is shown"));
    } else {
        answer_ = std::move(*found);
        veil_->lift();
        show(*answer_);
    }
    tell();
}

void MemoryTab::tell() {
    const bool running = work_.isRunning();
    progress_->setVisible(running);
    cancel_->setVisible(running);
    problem_->setVisible(refusal_.has_value());
    const bool unlike = answer_ && answer_->energy && !answer_->unlike.empty();
    unlike_->setVisible(unlike);
    if (unlike) {
        QStringList said;
        for (const std::string& each : answer_->unlike) said << ui::qs(each);
        unlike_->setText(tr("The energy is by currents of another device: %1.").arg(said.join(QStringLiteral("; "))));
    }
    export_->setEnabled(answer_.has_value());
    if (!refusal_) return;
    QString said = ui::qs(toText(refusal_->place));
    if (!said.isEmpty()) said += QStringLiteral(": ");
    problem_->setText(said + refusalText(*refusal_));
}

void MemoryTab::show(const MemoryAnswer& answer) {
    const RuledResult& result = answer.result;
    const double peak = answer.rules.peakBandwidth();
    headline_->setFullText(tr("%1 of %2 (%3)")
                               .arg(ui::text(BytesPerSecond(result.bytesPerSecond)), ui::text(BytesPerSecond(peak)),
                                    ui::percentText(peak > 0 ? result.bytesPerSecond / peak : 0)));
    // What holds it back is the largest that is no transfer.
    const auto held =
        std::ranges::find_if(answer.bindings, [](const DramBinding& one) { return one.timing != "data bus"; });
    QString sub;
    if (held != answer.bindings.end() && held->share >= 0.005)
        sub = tr("%1, %2 of the data bus: %3 · ")
                  .arg(ui::qs(held->timing), ui::percentText(held->share), ui::qs(held->words));
    sub += tr("%1 cycles · reads wait %2 on average · %3 row hits, %4 misses, %5 conflicts")
               .arg(ui::countText(static_cast<double>(result.cycles)), QString::number(result.meanLatency, 'f', 1),
                    ui::countText(static_cast<double>(result.counts.rowHits)),
                    ui::countText(static_cast<double>(result.counts.rowMisses)),
                    ui::countText(static_cast<double>(result.counts.rowConflicts)));
    if (answer.picture.cut)
        sub += tr(" · the first %1 commands are drawn")
                   .arg(ui::countText(static_cast<double>(answer.picture.issued.size())));
    sub_->setFullText(sub);
    bindings_->setBars(tr("Use and waits of the data bus"), bindingBars(answer), 1);
    bounds_->setBars(tr("No order of these requests takes less"), boundBars(answer), 1);
    energy_->setEmptyText(answer.energy ? QString() : tr("No energy: %1.").arg(ui::qs(answer.energy.error().message)));
    energy_->setBars(energyTitle(answer), energyBars(answer), 1);
    timeline_->setPicture(answer.picture);
}

QVariantMap MemoryTab::kept() const {
    return {{QStringLiteral("memory/standard"), memory_->currentData()},
            {QStringLiteral("memory/config"), config_},
            {QStringLiteral("memory/currents"), chosenCurrents_},
            {QStringLiteral("memory/mapping"), mapping_->currentData()}};
}

void MemoryTab::setKept(const QVariantMap& view) {
    if (view.contains(QStringLiteral("memory/standard")))
        selectData(memory_, view.value(QStringLiteral("memory/standard")).toString());
    config_ = view.value(QStringLiteral("memory/config")).toString();
    const QString currents = view.value(QStringLiteral("memory/currents")).toString();
    // A file that has gone meanwhile is not asked for again.
    if (!currents.contains(QLatin1Char('/')) || QFileInfo::exists(currents)) showCurrents(currents);
    if (view.contains(QStringLiteral("memory/mapping")))
        selectData(mapping_, view.value(QStringLiteral("memory/mapping")).toString());
    showRows();
}

}  // namespace orrery::app
