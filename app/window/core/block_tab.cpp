#include "app/window/core/block_tab.h"

#include "app/window/core/answer_side.h"
#include "app/window/core/block_text.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/veil.h"
#include "widgets/core/block_listing.h"
#include "widgets/plots/bar_list.h"

#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QStandardItemModel>
#include <QTextBlock>

#include <algorithm>
#include <cmath>

namespace orrery::app {

namespace {

// Multiply and add along an array of doubles: the sum is carried from one turn to the next.
constexpr const char* exampleCode =
    "f2 0f 10 04 cf      # movsd  xmm0, [rdi+rcx*8]\n"
    "f2 0f 59 04 ce      # mulsd  xmm0, [rsi+rcx*8]\n"
    "f2 0f 58 c8         # addsd  xmm1, xmm0\n"
    "48 83 c1 01         # add    rcx, 1\n"
    "48 39 d1            # cmp    rcx, rdx\n";
constexpr const char* exampleIntel =
    "movsd xmm0, [rdi+rcx*8]\nmulsd xmm0, [rsi+rcx*8]\naddsd xmm1, xmm0\nadd rcx, 1\ncmp rcx, rdx\n";
constexpr const char* exampleAtt =
    "movsd (%rdi,%rcx,8), %xmm0\nmulsd (%rsi,%rcx,8), %xmm0\naddsd %xmm0, %xmm1\nadd $1, %rcx\ncmp %rdx, %rcx\n";

QString cyclesText(double cycles) {
    return QString::number(cycles, 'f', 2);
}

QString nameOf(block::Bound bound) {
    switch (bound) {
        case block::Bound::Predecode:
            return BlockTab::tr("Predecode");
        case block::Bound::Decode:
            return BlockTab::tr("Decode");
        case block::Bound::Issue:
            return BlockTab::tr("Issue");
        case block::Bound::Ports:
            return BlockTab::tr("Ports");
        case block::Bound::Dependence:
            return BlockTab::tr("Dependence");
    }
    return {};
}

// As a shell reads it back as one word.
QString shellWord(const QString& text) {
    static const QRegularExpression plain(QStringLiteral("^[A-Za-z0-9_./+-]+$"));
    if (plain.match(text).hasMatch()) return text;
    return QLatin1Char('\'') + QString(text).replace(QLatin1Char('\''), QStringLiteral("'\\''")) + QLatin1Char('\'');
}

QString correctionText(const block::BlockCorrection::Verdict& verdict) {
    const QString bounds = cyclesText(verdict.bounds);
    if (verdict.weight >= 1) return BlockTab::tr("%1 by the bounds, corrected").arg(bounds);
    if (verdict.weight > 0)
        return BlockTab::tr("%1 by the bounds, half corrected: near the edge of the fitted blocks").arg(bounds);
    return verdict.domain == DomainVerdict::Outside
               ? BlockTab::tr("not corrected: unlike the fitted blocks")
               : BlockTab::tr("not corrected: that has not helped blocks bound so");
}

}  // namespace

BlockTab::~BlockTab() = default;

BlockTab::Input BlockTab::input() const {
    return static_cast<Input>(input_->currentData().toInt());
}

void BlockTab::setInput(Input input) {
    const int at = input_->findData(static_cast<int>(input));
    if (at < 0 || at == input_->currentIndex()) return;
    input_->setCurrentIndex(at);
    asked();
}

void BlockTab::showExample() {
    const Input kind = input();
    editor_->setPlainText(QLatin1String(kind == Input::Machine ? exampleCode
                                        : kind == Input::Intel ? exampleIntel
                                                               : exampleAtt));
    editor_->setFocus();
}

QString BlockTab::correction() const {
    return corrected_;
}

void BlockTab::setCorrection(const QString& file) {
    corrected_ = file;
    correction_->clear();
    correction_->addItem(tr("none"), QString());
    if (!file.isEmpty()) correction_->addItem(QFileInfo(file).fileName(), file);
    correction_->addItem(tr("Choose a file …"), QStringLiteral("?"));
    correction_->setCurrentIndex(file.isEmpty() ? 0 : 1);
}

void BlockTab::chooseCorrection(int at) {
    QString file = correction_->itemData(at).toString();
    if (file == QLatin1String("?")) {
        file = QFileDialog::getOpenFileName(this, tr("A correction of blocks"), corrected_,
                                            tr("Corrections (*.json);;All files (*)"));
        if (file.isEmpty()) file = corrected_;
    }
    setCorrection(file);
    asked();
}

bool BlockTab::isUpToDate() const {
    return !waiting_ && !work_.isRunning() && !soon_.isActive();
}

// Names take longer than the window has: reading a core reads its port table.
void BlockTab::nameCores() {
    std::vector<std::string> ids;
    for (int i = 0; i < core_->count(); ++i) ids.push_back(core_->itemData(i).toString().toStdString());
    names_.ask(
        [ids](std::stop_token stop, Progress&) {
            std::vector<std::pair<QString, bool>> found;
            for (const std::string& id : ids) {
                if (stop.stop_requested()) break;
                const auto core = block::loadCore(id);
                found.emplace_back(core ? ui::qs((*core)->rules.title) : ui::qs(id), core && !(*core)->forms.empty());
            }
            return found;
        },
        [this](std::vector<std::pair<QString, bool>>&& found) {
            auto* model = qobject_cast<QStandardItemModel*>(core_->model());
            for (int i = 0; i < static_cast<int>(found.size()); ++i) {
                const auto& [title, usable] = found[static_cast<std::size_t>(i)];
                core_->setItemText(i, title);
                if (usable || !model) continue;
                model->item(i)->setEnabled(false);
                model->item(i)->setToolTip(tr("This core has a table of instruction mixes, but no port table"));
            }
        });
}

void BlockTab::asked() {
    assembler_->cancel();
    waiting_ = false;
    soon_.stop();
    ++turn_;
    const QString text = editor_->toPlainText();
    if (text.trimmed().isEmpty()) return showNothing();
    veil_->dropSoon(tr("The block has changed"));
    if (input() == Input::Machine)
        return analyse({core_->currentData().toString().toStdString(), text, {}, corrected_.toStdString()});
    // A wrong line is told at once; the program runs when the hand rests.
    if (const auto fine = Assembler::check(text); !fine) return refuse(turn_, fine.error());
    if (!Assembler::isInstalled()) {
        Diagnostic why;
        why.code = "assembly.no-program";
        why.message = Assembler::whyNot().toStdString();
        return refuse(turn_, why);
    }
    soon_.start();
}

void BlockTab::analyse(BlockQuestion question) {
    work_.ask(
        [desk = desk_, question = std::move(question)](std::stop_token, Progress&) { return desk->ask(question); },
        [this, turn = turn_](Expected<BlockAnswer>&& found) { take(turn, std::move(found)); },
        Background::Newest::LetsItFinish);
}

void BlockTab::take(int turn, Expected<BlockAnswer>&& found) {
    if (turn < floor_) return;
    if (editor_->toPlainText().trimmed().isEmpty()) return;
    if (!found) return refuse(turn, found.error());
    refusal_.reset();
    answer_ = std::move(*found);
    problem_->hide();
    mark(-1, 0);
    show(*answer_);
}

void BlockTab::refuse(int turn, const Diagnostic& why) {
    floor_ = turn;
    refusal_ = why;
    answer_.reset();
    export_->setEnabled(false);
    command_->setEnabled(false);
    const QString text = editor_->toPlainText();
    QString where;
    mark(-1, 0);
    if (why.place.column > 0 && input() == Input::Machine) {
        const qsizetype at = std::clamp<qsizetype>(why.place.column - 1, 0, std::max<qsizetype>(text.size() - 1, 0));
        const QTextBlock line = editor_->document()->findBlock(static_cast<int>(at));
        where = tr("line %1, column %2: ").arg(line.blockNumber() + 1).arg(at - line.position() + 1);
        mark(at, why.code == "block.unknown-instruction" ? 2 : 1);
    } else if (why.place.line > 0) {
        const QTextBlock line = editor_->document()->findBlockByNumber(why.place.line - 1);
        where = tr("line %1: ").arg(why.place.line);
        if (line.isValid()) mark(line.position(), line.length() - 1);
    }
    const QString said = where + refusalText(why);
    problem_->setText(said);
    problem_->setAccessibleName(said);
    problem_->show();
    if (listing_->isEmpty()) return veil_->lift();
    veil_->drop(tr("The text at the left cannot be read. The previous block is shown"));
}

void BlockTab::mark(qsizetype from, qsizetype length) {
    QList<QTextEdit::ExtraSelection> marks;
    if (from >= 0) {
        QTextEdit::ExtraSelection wrong;
        wrong.cursor = QTextCursor(editor_->document());
        wrong.cursor.setPosition(static_cast<int>(from));
        wrong.cursor.setPosition(static_cast<int>(std::min<qsizetype>(from + length, editor_->toPlainText().size())),
                                 QTextCursor::KeepAnchor);
        wrong.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
        wrong.format.setUnderlineColor(ui::Theme::instance().colours().bad);
        wrong.format.setForeground(ui::Theme::instance().colours().bad);
        marks << wrong;
    }
    editor_->setExtraSelections(marks);
}

void BlockTab::show(const BlockAnswer& answer) {
    veil_->lift();
    const block::Prediction& found = answer.prediction;
    const block::CoreRules& rules = answer.core->rules;
    headline_->setFullText(tr("%1 cycles per iteration on %2").arg(cyclesText(found.cycles), ui::qs(rules.title)));
    QString sub = tr("bound by %1").arg(ui::qs(block::meaning(found.binding)));
    if (answer.verdict) sub += tr(" · ") + correctionText(*answer.verdict);
    sub += found.high > found.low
               ? tr(" · 90 % interval from measured blocks: %1 … %2").arg(cyclesText(found.low), cyclesText(found.high))
               : tr(" · no measured blocks of this core, so there is no interval");
    if (!found.unknown.empty())
        sub += tr(" · %n instruction(s) not in the port table", nullptr, static_cast<int>(found.unknown.size()));
    sub_->setFullText(sub);
    ui::BlockPicture picture;
    for (const std::string& name : rules.portNames) picture.portNames.push_back(ui::qs(name));
    picture.chain = answer.chain;
    picture.portCycles = found.portCycles;
    picture.cycles = found.cycles;
    picture.chainBinds = found.binding == block::Bound::Dependence;
    for (std::size_t i = 0; i < answer.code.instructions.size(); ++i) {
        const block::Instruction& one = answer.code.instructions[i];
        ui::BlockLine line;
        line.offset = one.offset;
        const auto* bytes = reinterpret_cast<const char*>(answer.code.bytes.data()) + one.offset;
        line.bytes = QString::fromLatin1(QByteArray(bytes, one.length).toHex());
        line.text = ui::qs(answer.lines[i]);
        const block::Form* form = answer.core->find(one.key);
        line.form = form ? ui::qs(form->name) : QString();
        line.known = std::ranges::find(found.unknown, static_cast<int>(i)) == found.unknown.end();
        line.ports = answer.ports[i];
        picture.lines.push_back(std::move(line));
    }
    listing_->setPicture(std::move(picture));
    showBounds(answer);
    export_->setEnabled(true);
    command_->setEnabled(true);
}

void BlockTab::showBounds(const BlockAnswer& answer) {
    const block::Prediction& found = answer.prediction;
    std::vector<ui::Bar> bars;
    for (std::size_t b = 0; b < block::boundCount; ++b) {
        const auto bound = static_cast<block::Bound>(b);
        ui::Bar bar;
        bar.name = nameOf(bound);
        bar.value = found.bounds[b];
        bar.text = cyclesText(bar.value);
        bar.words = ui::qs(block::meaning(bound));
        bar.marked = bound == found.binding;
        // Copies of short blocks come in part from the cache of decoded instructions.
        const double counted = answer.verdict ? answer.verdict->bounds : found.cycles;
        if (bar.marked && std::abs(counted - bar.value) > 0.005)
            bar.words += tr("; %1 count, because short blocks are partly cached").arg(cyclesText(counted));
        if (bar.marked) bar.low = found.low, bar.high = found.high;
        bars.push_back(std::move(bar));
    }
    bounds_->setBars(tr("Cycles per iteration that each part of the core needs: the largest decides"), std::move(bars));
}

void BlockTab::showNothing() {
    work_.cancel();
    floor_ = turn_;
    answer_.reset();
    refusal_.reset();
    problem_->hide();
    mark(-1, 0);
    veil_->lift();
    headline_->setFullText(tr("No block yet"));
    sub_->setFullText(tr("Cycles of a repeated basic block of x86-64, and what limits it"));
    listing_->setPicture({});
    bounds_->clear();
    export_->setEnabled(false);
    command_->setEnabled(false);
}

QString BlockTab::command() const {
    if (!answer_) return {};
    const auto* bytes = reinterpret_cast<const char*>(answer_->code.bytes.data());
    const QString command =
        QStringLiteral("orrery-cli block --core %1 --hex %2")
            .arg(ui::qs(answer_->core->rules.id),
                 QString::fromLatin1(QByteArray(bytes, static_cast<qsizetype>(answer_->code.bytes.size())).toHex()));
    if (!answer_->verdict) return command;
    return command + QStringLiteral(" --correct ") + shellWord(ui::qs(answer_->correction));
}

QVariantMap BlockTab::view() const {
    return {{QStringLiteral("block/core"), core_->currentData()},
            {QStringLiteral("block/input"), input_->currentData()},
            {QStringLiteral("block/correction"), corrected_},
            {QStringLiteral("block/text"), editor_->toPlainText().left(16384)}};
}

void BlockTab::setView(const QVariantMap& view) {
    if (const int at = core_->findData(view.value(QStringLiteral("block/core")).toString()); at >= 0)
        core_->setCurrentIndex(at);
    if (const int at = input_->findData(view.value(QStringLiteral("block/input")).toInt()); at >= 0)
        input_->setCurrentIndex(at);
    // A file that has gone meanwhile is not asked for again.
    const QString file = view.value(QStringLiteral("block/correction")).toString();
    if (!file.isEmpty() && QFileInfo::exists(file)) setCorrection(file);
    if (const QString text = view.value(QStringLiteral("block/text")).toString(); !text.isEmpty())
        editor_->setPlainText(text);
}

}  // namespace orrery::app
