#include "app/window/core/pipeline_tab.h"

#include "app/window/core/answer_side.h"
#include "app/window/form_parts.h"
#include "hardware/views/core_view.h"
#include "simulation/cpu/cores/fork_join.h"
#include "widgets/common/icon_button.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/common/veil.h"
#include "widgets/plots/bar_list.h"

#include <QFormLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSlider>

#include <algorithm>

namespace orrery::app {

namespace {

using namespace pipeline;

QString nameOf(Cause cause) {
    switch (cause) {
        case Cause::Retiring:
            return PipelineTab::tr("Retiring");
        case Cause::FrontEnd:
            return PipelineTab::tr("Front end");
        case Cause::Mispredict:
            return PipelineTab::tr("Mispredicted");
        case Cause::Window:
            return PipelineTab::tr("Window full");
        case Cause::Ports:
            return PipelineTab::tr("Ports");
        case Cause::Execution:
            return PipelineTab::tr("Execution");
        case Cause::Divide:
            return PipelineTab::tr("Divider");
        case Cause::Forward:
            return PipelineTab::tr("Forwarding");
        case Cause::Level1:
            return PipelineTab::tr("First cache");
        case Cause::Level2:
            return PipelineTab::tr("Second cache");
        case Cause::Level3:
            return PipelineTab::tr("Third cache");
        case Cause::Memory:
            return PipelineTab::tr("Memory");
        case Cause::Stores:
            return PipelineTab::tr("Store queue");
    }
    return {};
}

QString wordsOf(Cause cause) {
    switch (cause) {
        case Cause::Retiring:
            return PipelineTab::tr("retirement slots that were used: the work itself");
        case Cause::FrontEnd:
            return PipelineTab::tr("the next operation was not fetched or dispatched yet");
        case Cause::Mispredict:
            return PipelineTab::tr("a branch was mispredicted, and the front end refilled");
        case Cause::Window:
            return PipelineTab::tr("no entry of a queue was free: a larger window would look further ahead");
        case Cause::Ports:
            return PipelineTab::tr("its sources were ready, but no suitable port was free");
        case Cause::Execution:
            return PipelineTab::tr("it waited for the latency of units: results that depend on each other");
        case Cause::Divide:
            return PipelineTab::tr("it waited for a division");
        case Cause::Forward:
            return PipelineTab::tr("it waited for the data of a store before it");
        case Cause::Level1:
            return PipelineTab::tr("it waited for a load from the first cache");
        case Cause::Level2:
            return PipelineTab::tr("it waited for a load from the second cache");
        case Cause::Level3:
            return PipelineTab::tr("it waited for a load from the third cache");
        case Cause::Memory:
            return PipelineTab::tr("it waited for a load from memory");
        case Cause::Stores:
            return PipelineTab::tr("the store queue was full");
    }
    return {};
}

}  // namespace

PipelineTab::~PipelineTab() = default;

void PipelineTab::setDesign(HardwarePtr design) {
    if (design == design_) return;
    design_ = std::move(design);
    core_->setItemText(0, design_ ? tr("drawn: %1").arg(ui::qs(design_->name)) : tr("drawn: no design"));
    showCores();
    if (core_->currentIndex() == 0) changed();
}

void PipelineTab::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (asked_) return;
    for (int i = 1; i < core_->count(); ++i) {
        if (const auto machine = loadMachine(core_->itemData(i).toString().toStdString()))
            core_->setItemText(i, ui::qs(machine->title));
    }
    changed();
}

void PipelineTab::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    play(false);
}

void PipelineTab::fillSets() {
    // What the core has, in the order of all; a drawn core may have any.
    const QString before = set_->currentText();
    const auto machine = core_->currentIndex() > 0 ? loadMachine(core_->currentData().toString().toStdString())
                                                   : Expected<Machine>(Machine{});
    const QSignalBlocker quiet(set_);
    set_->clear();
    for (const std::string_view each : instructionSets()) {
        if (core_->currentIndex() > 0 && machine && !machine->has(each)) continue;
        set_->addItem(ui::qs(each));
    }
    const int at = set_->findText(before);
    set_->setCurrentIndex(at >= 0 ? at : std::min(1, set_->count() - 1));
}

void PipelineTab::showSizes() {
    const KernelForm& form = kernelForms()[static_cast<std::size_t>(std::max(kernel_->currentIndex(), 0))];
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
        const bool used = i < form.sizes.size();
        sizes_[i].name->setVisible(used);
        sizes_[i].value->setVisible(used);
        if (!used) continue;
        const QString name = ui::qs(form.sizes[i].first);
        sizes_[i].name->setText(name);
        sizes_[i].value->setAccessibleName(tr("Size %1 of the kernel").arg(name));
        const QSignalBlocker quiet(sizes_[i].value);
        // Small enough to be answered at once; the command line's own sizes are larger.
        sizes_[i].value->setValue(
            static_cast<int>(std::min<std::int64_t>(form.sizes[i].second, name.size() == 1 ? 64 : 512)));
    }
}

void PipelineTab::showCores() {
    const bool drawn = core_->currentIndex() == 0, several = drawn && number_->value() > 1;
    form_->setRowVisible(number_, drawn);
    form_->setRowVisible(bind_, several);
    // With one memory they lie in it.
    const auto view = several && design_ ? coreView(*design_) : Expected<CoreView>(Unexpected(Diagnostic{}));
    form_->setRowVisible(pages_, view && view->memories.nodes > 1);
}

std::string PipelineTab::kernelText() const {
    const KernelForm& form = kernelForms()[static_cast<std::size_t>(std::max(kernel_->currentIndex(), 0))];
    std::string text(form.name);
    for (std::size_t i = 0; i < form.sizes.size(); ++i)
        text += ' ' + std::string(form.sizes[i].first) + '=' + std::to_string(sizes_[i].value->value());
    return text + ' ' + set_->currentText().toStdString();
}

Expected<void> PipelineTab::setKernel(const std::string& text) {
    const auto spec = readKernel(text);
    if (!spec) return Unexpected(spec.error());
    kernel_->setCurrentIndex(std::max(0, kernel_->findData(QString::fromStdString(spec->kernel))));
    showSizes();
    const KernelForm& form = kernelForms()[static_cast<std::size_t>(kernel_->currentIndex())];
    for (std::size_t i = 0; i < form.sizes.size(); ++i) {
        const QSignalBlocker quiet(sizes_[i].value);
        sizes_[i].value->setValue(static_cast<int>(spec->size(form.sizes[i].first)));
    }
    if (const int at = set_->findText(QString::fromStdString(spec->instructionSet)); at >= 0) set_->setCurrentIndex(at);
    changed();
    return {};
}

PipelineQuestion PipelineTab::question() const {
    PipelineQuestion question;
    if (core_->currentIndex() > 0)
        question.core = core_->currentData().toString().toStdString();
    else
        question.drawn = design_;
    question.kernel = kernelText();
    question.place = place_->value() / 1000.0;
    question.rows = rows_->value();
    if (core_->currentIndex() > 0) return question;
    question.cores = number_->value();
    question.binding = static_cast<Binding>(bind_->currentData().toInt());
    question.pages = static_cast<Pages>(pages_->currentData().toInt());
    return question;
}

void PipelineTab::changed() {
    where_->setFullText(tr("from %1 % of the run").arg(place_->value() / 10.0, 0, 'f', 1));
    if (answer_) veil_->dropSoon(tr("The question has changed. The previous run is shown"));
    soon_.start();
}

void PipelineTab::run() {
    const PipelineQuestion question = this->question();
    if (asked_ == question && work_.isRunning()) return;
    if (asked_ == question && answer_) return veil_->lift();
    asked_ = question;
    refusal_.reset();
    work_.ask(
        [question](const std::stop_token& stop, Progress& progress) { return runPipeline(question, stop, progress); },
        [this](Expected<PipelineAnswer>&& found) { take(std::move(found)); });
    tell();
}

void PipelineTab::take(Expected<PipelineAnswer>&& found) {
    if (!found) {
        refusal_ = found.error();
        answer_ = {};
        if (view_->isEmpty())
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

void PipelineTab::tell() {
    const bool running = work_.isRunning();
    progress_->setVisible(running);
    cancel_->setVisible(running);
    progress_->setValue(static_cast<int>(work_.fraction() * 1000));
    problem_->setVisible(refusal_.has_value());
    if (refusal_) problem_->setText(refusalText(*refusal_));
    const bool there = answer_.has_value() && !view_->isEmpty();
    for (QWidget* each : std::initializer_list<QWidget*>{back_, play_, step_, export_, command_})
        each->setEnabled(there);
    cycle_->setFullText(there ? view_->cycleText() : QString());
}

void PipelineTab::show(const PipelineAnswer& answer) {
    const Counters& counts = answer.counts;
    const SplitRun* split = answer.several ? &answer.several->run : nullptr;
    const double cycles = static_cast<double>(std::max<std::uint64_t>(split ? split->cycles() : counts.cycles, 1));
    const double ipc = static_cast<double>(counts.instructions) / cycles;
    headline_->setFullText(
        split ? tr("%1 cycles on %2 of %3 cores of %4")
                    .arg(ui::countText(cycles), QString::number(split->cores.size()),
                         QString::number(answer.several->chip.cores), ui::qs(answer.machine.title))
              : tr("%1 cycles, %2 instructions per cycle on %3")
                    .arg(ui::countText(cycles), QString::number(ipc, 'f', 2), ui::qs(answer.machine.title)));
    double idle = 0;
    const auto stack = split ? split->stack(idle) : counts.stack();
    std::size_t most = 1;
    for (std::size_t c = 1; c < causeCount; ++c)
        if (stack[c] > stack[most]) most = c;
    QString sub = ui::text(Seconds(cycles / answer.machine.clock)) + QStringLiteral(" · ") +
                  tr("%1 FLOP per cycle").arg(flopsOf(answer.kernel) / cycles, 0, 'f', 1);
    // A part of a kernel has an unknown part of its operations.
    if (answer.operations < answer.length)
        sub = tr("the first %1 of %2 operations")
                  .arg(ui::countText(static_cast<double>(answer.operations)),
                       ui::countText(static_cast<double>(answer.length)));
    if (split) {
        const Chip& chip = answer.several->chip;
        sub += tr(" · %1 of %2 of memory")
                   .arg(ui::text(BytesPerSecond(split->bytesMoved() / (cycles / chip.core.clock))),
                        ui::text(BytesPerSecond(chip.nodes * chip.nodeBandwidth)));
        if (split->cores.size() > 1)
            sub += tr(" · beside them %1 to begin on all cores and to wait for the last")
                       .arg(ui::text(Seconds(forkJoinSeconds(chip, split->cores))));
    }
    sub += stack[most] > 0 ? tr(" · %1 of the cycles: %2")
                                 .arg(ui::percentText(stack[most] / cycles), wordsOf(static_cast<Cause>(most)))
                           : QString();
    for (const std::string& each : answer.assumptions) sub += QStringLiteral(" · ") + ui::qs(each);
    sub_->setFullText(sub);
    std::vector<ui::Bar> bars;
    for (std::size_t c = 0; c < causeCount; ++c) {
        if (stack[c] <= 0) continue;
        const auto cause = static_cast<Cause>(c);
        ui::Bar bar;
        bar.name = nameOf(cause);
        bar.value = stack[c];
        bar.text = ui::percentText(stack[c] / cycles);
        bar.words = wordsOf(cause);
        bar.marked = c == most;
        if (cause == Cause::Retiring) bar.colour = ui::Theme::instance().methodColour(2);
        bars.push_back(std::move(bar));
    }
    if (idle > 0) {
        const bool cut = answer.operations < answer.length;
        bars.push_back({cut ? tr("Behind") : tr("Done"),
                        idle,
                        ui::percentText(idle / cycles),
                        cut ? tr("the run was cut before this core reached the cycle of the core that is ahead")
                            : tr("the core was done and waited for the last core"),
                        {},
                        false});
    }
    causes_->setBars(split ? tr("Cycles of a core by cause, mean of all cores") : tr("What every cycle went to"),
                     std::move(bars), cycles);
    std::vector<ui::Bar> ports;
    std::uint64_t busiest = 0;
    for (std::size_t p = 0; p < answer.machine.portNames.size(); ++p) busiest = std::max(busiest, counts.portCycles[p]);
    for (std::size_t p = 0; p < answer.machine.portNames.size(); ++p) {
        const double share = static_cast<double>(counts.portCycles[p]) / cycles;
        ports.push_back({ui::qs(answer.machine.portNames[p]),
                         share,
                         ui::percentText(share),
                         tr("%1 cycles of the run").arg(ui::countText(static_cast<double>(counts.portCycles[p]))),
                         {},
                         counts.portCycles[p] == busiest && busiest > 0});
    }
    ports_->setBars(split ? tr("How busy each port of the first core was") : tr("How busy each port was"),
                    std::move(ports), 1);
    eachPane_->setVisible(split != nullptr);
    if (split) showEach(*answer.several);
    view_->setPicture(answer.picture);
}

void PipelineTab::showEach(const CoresAnswer& several) {
    const auto mean = [](std::uint64_t sum, std::uint64_t count) {
        return QString::number(count > 0 ? static_cast<double>(sum) / static_cast<double>(count) : 0.0, 'f', 1);
    };
    const auto share = [](std::uint64_t part, std::uint64_t whole) {
        return ui::percentText(whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0);
    };
    const double last = static_cast<double>(several.run.cycles());
    std::vector<ui::Bar> bars;
    QStringList where;
    for (std::size_t level = 0; level < several.chip.core.caches.size(); ++level)
        if (several.chip.sharedBy[level] > 1) where << ui::qs(several.chip.core.caches[level].name);
    where << tr("memory");
    for (const CoreResult& core : several.run.cores) {
        QStringList words, waits;
        for (std::size_t level = 0; level < several.chip.core.caches.size(); ++level) {
            if (several.chip.sharedBy[level] < 2) continue;
            const SharedCounts& counts = core.shared[level];
            words << tr("%1: %2 hits, %3 of them brought by others, %4 cycles of waiting each")
                         .arg(ui::qs(several.chip.core.caches[level].name),
                              share(counts.hits, counts.hits + counts.misses), share(counts.fromOthers, counts.hits),
                              mean(counts.waited, counts.hits));
            waits << mean(counts.waited, counts.hits);
        }
        const MemoryLines& use = core.use;
        words << tr("memory: %1 lines, %2 cycles of waiting each")
                     .arg(ui::countText(static_cast<double>(use.reads + use.writes)),
                          mean(use.waitedOwn + use.waitedChannel, use.reads));
        if (several.chip.nodes > 1)
            words << tr("%1 of them behind a link, %2 cycles of waiting for it each")
                         .arg(share(use.remote, use.reads + use.writes), mean(use.waitedLink, use.reads));
        const double cycles = static_cast<double>(core.counters.cycles);
        waits << mean(use.waitedOwn + use.waitedChannel + use.waitedLink, use.reads);
        bars.push_back({tr("Core %1").arg(core.core),
                        cycles,
                        ui::countText(cycles) + QStringLiteral(" · ") + waits.join(QStringLiteral(", ")),
                        words.join(QStringLiteral("; ")),
                        {},
                        cycles >= last});
    }
    each_->setBars(tr("Cycles of each core · mean wait of a line in %1").arg(where.join(QStringLiteral(", "))),
                   std::move(bars), last);
    // As many rows as there are cores, behind a scroll bar.
    each_->setMinimumHeight(each_->sizeHint().height());
}

void PipelineTab::play(bool on) {
    if (play_->isChecked() != on) play_->setChecked(on);
    on && !view_->isEmpty() ? frame_.start() : frame_.stop();
}

QString PipelineTab::command() const {
    if (!asked_ || (asked_->core.empty() && !asked_->drawn)) return {};
    QString text = QStringLiteral("orrery-cli core %1 --kernel \"%2\"")
                       .arg(asked_->core.empty() ? QStringLiteral("--hardware FILE")
                                                 : QStringLiteral("--core ") + ui::qs(asked_->core),
                            ui::qs(asked_->kernel));
    if (asked_->cores < 2) return text;
    // The command line refuses more cores than there are, which a run takes for all of them.
    const int there = answer_ && answer_->several ? answer_->several->chip.cores : asked_->cores;
    text += QStringLiteral(" --cores %1 --bind %2")
                .arg(std::min(asked_->cores, there))
                .arg(ui::qs(toText(asked_->binding)));
    return asked_->pages == Pages::Local ? text : text + QStringLiteral(" --pages ") + ui::qs(toText(asked_->pages));
}

QVariantMap PipelineTab::kept() const {
    return {{QStringLiteral("pipeline/core"), core_->currentData()},
            {QStringLiteral("pipeline/cores"), number_->value()},
            {QStringLiteral("pipeline/bind"), bind_->currentData()},
            {QStringLiteral("pipeline/pages"), pages_->currentData()},
            {QStringLiteral("pipeline/kernel"), ui::qs(kernelText())}};
}

void PipelineTab::setKept(const QVariantMap& view) {
    // An empty id is the drawn core; nothing kept is no choice.
    const QVariant core = view.value(QStringLiteral("pipeline/core"));
    if (const int at = core.isValid() ? core_->findData(core.toString()) : -1; at >= 0) {
        core_->setCurrentIndex(at);
        fillSets();
    }
    number_->setValue(std::max(1, view.value(QStringLiteral("pipeline/cores")).toInt()));
    for (const auto& [box, key] : {std::pair{bind_, "pipeline/bind"}, {pages_, "pipeline/pages"}}) {
        const QVariant chosen = view.value(QLatin1String(key));
        box->setCurrentIndex(chosen.isValid() ? std::max(0, box->findData(chosen.toInt())) : 0);
    }
    showCores();
    if (const QString kernel = view.value(QStringLiteral("pipeline/kernel")).toString(); !kernel.isEmpty())
        (void)setKernel(kernel.toStdString());
}

}  // namespace orrery::app
