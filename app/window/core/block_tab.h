#pragma once

// The block analyser: machine code or assembly at the left, answered while it is typed; its listing with ports and
// chain, and the bounds of which the largest decides.

#include "app/document/background.h"
#include "app/window/core/assembler.h"
#include "app/window/core/block_answer.h"
#include "app/window/core/write_figure.h"

#include <QVariantMap>
#include <QWidget>

#include <optional>

class QComboBox;
class QPlainTextEdit;
class QPushButton;

namespace orrery::ui {
class BarList;
class BlockListing;
class Label;
class Veil;
}  // namespace orrery::ui

namespace orrery::app {

class BlockTab : public QWidget {
    Q_OBJECT
public:
    enum class Input { Machine, Intel, Att };

    explicit BlockTab(QWidget* parent = nullptr);
    ~BlockTab() override;

    QPlainTextEdit* editor() const { return editor_; }
    ui::BlockListing* listing() const { return listing_; }
    ui::BarList* bounds() const { return bounds_; }
    const std::optional<BlockAnswer>& answer() const { return answer_; }   ///< of the text as it stands; nothing: none
    const std::optional<Diagnostic>& refusal() const { return refusal_; }  ///< why there is none
    bool isUpToDate() const;
    void setInput(Input input);
    void showExample();
    /// A file that `orrery-cli block --fit` has written; empty: bounds alone.
    void setCorrection(const QString& file);
    QString correction() const;
    QString command() const;  ///< that asks the same on the command line; empty: nothing is answered
    /// What is kept from one start to the next.
    QVariantMap view() const;
    void setView(const QVariantMap& view);

signals:
    /// Asks where to write; `write` returns what went wrong.
    void exportWanted(const QString& title, const QString& name, const QString& filter,
                      const orrery::app::WriteFigure& write);

private:
    QWidget* buildInput(QWidget* parent);
    QWidget* buildAnswer(QWidget* parent);
    Input input() const;
    void nameCores();
    void asked();
    void chooseCorrection(int at);
    void analyse(BlockQuestion question);
    void take(int turn, Expected<BlockAnswer>&& found);
    void refuse(int turn, const Diagnostic& why);
    void mark(qsizetype from, qsizetype length);
    void show(const BlockAnswer& answer);
    void showBounds(const BlockAnswer& answer);
    void showNothing();

    QComboBox *core_ = nullptr, *input_ = nullptr, *correction_ = nullptr;
    QString corrected_;  ///< the file that is chosen
    QPlainTextEdit* editor_ = nullptr;
    ui::Label *headline_ = nullptr, *sub_ = nullptr, *problem_ = nullptr;
    QPushButton *export_ = nullptr, *command_ = nullptr;
    ui::BlockListing* listing_ = nullptr;
    ui::BarList* bounds_ = nullptr;
    ui::Veil* veil_ = nullptr;
    Assembler* assembler_;
    std::shared_ptr<BlockDesk> desk_ = std::make_shared<BlockDesk>();
    std::optional<BlockAnswer> answer_;
    std::optional<Diagnostic> refusal_;
    bool waiting_ = false;      ///< for the assembler
    int turn_ = 0, floor_ = 0;  ///< of the newest question; answers of turns before the other come too late
    QTimer soon_;               ///< edits in one burst become one run of the assembler
    Background work_, names_;
};

}  // namespace orrery::app
